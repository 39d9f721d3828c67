import { decodeSnapshot } from '../../domain/session/codec/snapshot-codec.js';
import type { CodecProblem } from '../../domain/session/codec/codec-result.js';
import { emptyAgentState } from '../../domain/session/agent-state.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import {
  CodecError,
  CorruptionError,
  SessionError,
  UnsupportedVersionError,
} from '../../domain/session/session-errors.js';
import { shownSessionId } from '../../domain/session/session-id.js';
import type { SessionKey } from '../../domain/session/session-key.js';
import type { SessionSnapshot } from '../../domain/session/session-state.js';
import type { LoadedSnapshot } from './state-storage.js';

/** What one place holds: nothing, a text, or something that cannot be read at all. */
export type StoredText =
  | { readonly kind: 'missing' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'unreadable'; readonly cause: unknown };

export const stored = (text: string | null): StoredText =>
  text === null ? { kind: 'missing' } : { kind: 'text', text };

type Read =
  | { readonly kind: 'missing' }
  | { readonly kind: 'ok'; readonly snapshot: SessionSnapshot }
  | { readonly kind: 'corrupt'; readonly reason: string; readonly cause: unknown };

/**
 * Main before bak, for every medium. Bak is asked for only when main is missing or damaged. A version of a newer program, in
 * either, ends the search: an older state must never appear in its place. So does the snapshot of another session. Rejects with
 * `schema_version_unsupported`, `session_identity_mismatch`, `state_corrupt`, `session_not_found`.
 */
export async function chooseSnapshot(
  key: SessionKey,
  main: StoredText,
  readBak: () => Promise<StoredText>,
): Promise<{ readonly snapshot: SessionSnapshot; readonly loadSource: 'main' | 'bak' }> {
  const first = read(main, key);
  if (first.kind === 'ok') return { snapshot: first.snapshot, loadSource: 'main' };
  const second = read(await readBak(), key);
  if (second.kind === 'ok') return { snapshot: second.snapshot, loadSource: 'bak' };
  if (first.kind === 'missing' && second.kind === 'missing') throw notFound(key);
  throw corrupt(key, [reasonOf('main', first), reasonOf('bak', second)], first.kind === 'corrupt' ? first : second);
}

/** Whether a place holds a snapshot of this session that could be read again. Rejects as `chooseSnapshot` does. */
export function isWhole(place: StoredText, key: SessionKey): boolean {
  return read(place, key).kind === 'ok';
}

/** The session was ended and its end could not be saved: what is there may be looked at, and is not resumed. */
export function markedAs(snapshot: SessionSnapshot, notResumable: boolean): SessionSnapshot {
  if (!notResumable) return snapshot;
  const { pendingRunCheckpoint: _, ...rest } = snapshot.agentState;
  return { ...snapshot, agentState: { ...rest, isRunning: false } };
}

export function newSnapshot(key: SessionKey, notResumable: boolean, metadata: JsonObject = {}): LoadedSnapshot {
  const agentState = emptyAgentState(key.sessionId, metadata);
  const snapshot: SessionSnapshot = {
    envelopeVersion: 1,
    tenant: key.tenant,
    sessionId: key.sessionId,
    position: null,
    agentState,
    runState: null,
    versionSetId: '',
  };
  return { snapshot, loadSource: 'new', notResumable };
}

export function notFound({ sessionId }: SessionKey): SessionError {
  return new SessionError('session_not_found', `There is no snapshot of session ${shownSessionId(sessionId)}.`);
}

export function saveFailed({ sessionId }: SessionKey, cause: unknown): SessionError {
  const message = `The snapshot of session ${shownSessionId(sessionId)} could not be saved.`;
  return new SessionError('state_save_failed', message, { cause });
}

/** A refusal of the encoder, with the place; nothing has been written. */
export function encodeRefused({ sessionId }: SessionKey, problem: CodecProblem): SessionError {
  const cause = new CodecError(problem.code, problem.message, problem.path);
  const message = `The state of session ${shownSessionId(sessionId)} cannot be saved: ${problem.message}`;
  const details = { pointer: problem.path };
  switch (problem.code) {
    case 'message_empty_contents':
    case 'secret_in_payload':
      return new SessionError(problem.code, message, { details, cause });
    default:
      return new SessionError('state_not_serializable', message, { details, cause });
  }
}

function read(place: StoredText, key: SessionKey): Read {
  if (place.kind === 'missing') return place;
  if (place.kind === 'unreadable') return { kind: 'corrupt', reason: 'unreadable', cause: place.cause };
  const decoded = decodeSnapshot(place.text, key);
  if (decoded.ok) return { kind: 'ok', snapshot: ofSession(decoded.value, key) };
  const { code, message, path, found, current } = decoded.problem;
  if (found !== undefined && current !== undefined) {
    throw new UnsupportedVersionError('schema_version_unsupported', path, found, current);
  }
  return { kind: 'corrupt', reason: code, cause: new CodecError(code, message, path) };
}

/** Two ids may have one name on a medium. */
function ofSession(snapshot: SessionSnapshot, { tenant, sessionId }: SessionKey): SessionSnapshot {
  if (snapshot.tenant === tenant && snapshot.sessionId === sessionId) return snapshot;
  const message = `What is stored for session ${shownSessionId(sessionId)} belongs to another one.`;
  throw new SessionError('session_identity_mismatch', message);
}

function reasonOf(place: 'main' | 'bak', read: Read): string {
  return `${place}: ${read.kind === 'corrupt' ? read.reason : read.kind}`;
}

function corrupt({ sessionId }: SessionKey, problems: readonly string[], read: Read): CorruptionError {
  const message = `No snapshot of session ${shownSessionId(sessionId)} can be read (${problems.join(', ')}).`;
  return new CorruptionError('state_corrupt', message, {
    details: { problems },
    cause: read.kind === 'corrupt' ? read.cause : undefined,
  });
}
