import { CountersignError } from '../domain/errors/countersign-error.js';
import { shownSessionId } from '../domain/session/session-id.js';
import type { LiveSession } from './live-session.js';
import type { SessionMedia } from './session-media.js';
import type { SessionSaves } from './session-saves.js';
import type { SerialChain } from './serial-chain.js';

/**
 * The end of all sessions: nothing is taken any more, everything taken is written, the media are closed, in this order and
 * whatever fails. An `AggregateError` names each session that could not be written, by the beginning of its id; errors of the
 * closing come after them. Admission is closed first, or a producer that never stops would be waited for without end.
 */
export async function drainSessions(
  sessions: readonly LiveSession[],
  chain: SerialChain,
  saves: SessionSaves,
  { backend, snapshots }: Pick<SessionMedia, 'backend' | 'snapshots'>,
): Promise<void> {
  for (const live of sessions) live.closeAdmission();
  const drained = await Promise.allSettled(sessions.map((live) => live.drain()));
  const problems = drained.flatMap((result, at) => {
    if (result.status === 'fulfilled') return [];
    return [drainError(sessions[at]?.key.sessionId ?? '', result.reason)];
  });
  problems.push(
    ...(await saves.retryMarks(true)).map((cause) => new Error('a session keeps no mark of its end', { cause })),
  );
  await chain.idle();
  const closed = await Promise.allSettled([backend.close(), snapshots.close()]);
  for (const result of closed) {
    if (result.status === 'rejected')
      problems.push(new Error('a store of sessions did not close', { cause: result.reason }));
  }
  if (problems.length > 0) throw new AggregateError(problems, 'sessions were not brought to an end');
}

function drainError(sessionId: string, cause: unknown): Error {
  const code = cause instanceof CountersignError ? cause.code : 'unknown';
  return new Error(`session ${shownSessionId(sessionId)} was not written: ${code}`, { cause });
}
