import { CountersignError } from '../domain/errors/countersign-error.js';
import { isEnded } from '../domain/run/run.state.js';
import { runStatusOf, type SessionCore } from '../domain/session/session-core.js';
import type { SessionFact } from '../domain/session/session-row.js';
import { withoutResumption, type FoldedState, type SessionFold } from './session-fold.js';
import { failedWith, type Read } from './session-media.js';
import type { LoadedSnapshot } from './snapshots/state-storage.js';

export interface ReducedState {
  readonly state: FoldedState;
  readonly loadSource: 'main' | 'bak' | 'rebuilt' | 'new';
  readonly notResumable: boolean;
  /** There were snapshots and none could be read. */
  readonly isRebuilt: boolean;
}

/**
 * Why a snapshot forbids a load although the log is whole, or null: it stands beyond the log or at another event than the log
 * has there (row 12), or falling back is forbidden (row 18). One that cannot be read at all forbids nothing by itself.
 */
export function snapshotProblem(
  snapshot: Read<LoadedSnapshot>,
  facts: readonly SessionFact[],
  isStrict: boolean,
): Error | null {
  if (!snapshot.ok) {
    const error = snapshot.error instanceof Error ? snapshot.error : new Error('a snapshot could not be read');
    if (failedWith(snapshot, 'state_corrupt')) return isStrict ? error : null;
    return failedWith(snapshot, 'session_not_found') ? null : error;
  }
  const { position } = snapshot.value.snapshot;
  if (position !== null && facts[position.lastSeq]?.eventId !== position.lastEventId) {
    return new CountersignError(
      'snapshot_ahead_of_log',
      'the log does not hold the event at which the snapshot stands',
    );
  }
  if (!isStrict || snapshot.value.loadSource !== 'bak') return null;
  return new CountersignError('state_corrupt', 'the newest snapshot cannot be read, and falling back is forbidden');
}

/** The state of all facts: from the snapshot on where one stands in the log, otherwise from the first row. */
export function reducedState(
  fold: SessionFold,
  core: SessionCore,
  snapshot: Read<LoadedSnapshot>,
  facts: readonly SessionFact[],
): ReducedState {
  const start = startOf(fold, core, snapshot, facts);
  const state = fold.fold(start.state, facts.slice(start.from));
  const status = runStatusOf(core, core.lastRunId ?? undefined);
  const notResumable = (snapshot.ok && snapshot.value.notResumable) || status === 'ended_unrecorded';
  // the log wins over what a snapshot says of a run that has ended since, or before
  const isOver = notResumable || (status !== 'none' && isEnded(status));
  return {
    state: isOver ? withoutResumption(state) : state,
    loadSource: start.source,
    notResumable,
    isRebuilt: failedWith(snapshot, 'state_corrupt'),
  };
}

interface Start {
  readonly state: FoldedState;
  readonly from: number;
  readonly source: ReducedState['loadSource'];
}

function startOf(
  fold: SessionFold,
  core: SessionCore,
  snapshot: Read<LoadedSnapshot>,
  facts: readonly SessionFact[],
): Start {
  const fresh: Start = { state: fold.start(core.key.sessionId), from: 0, source: 'rebuilt' };
  if (!snapshot.ok) return fresh;
  const { position, agentState, runState } = snapshot.value.snapshot;
  const source = snapshot.value.loadSource;
  if (position !== null) return { state: { agentState, runState }, from: position.lastSeq + 1, source };
  // a state of an earlier layout counts where the log says that it began from it
  return isImported(facts) ? { state: { agentState, runState }, from: 0, source } : fresh;
}

function isImported([first]: readonly SessionFact[]): boolean {
  const type: string = first?.kind === 'mirror' ? first.envelope.eventType : '';
  return type === 'session.imported';
}
