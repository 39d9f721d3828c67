import type { DomainEvent, EventPayload } from '../events/catalogue.js';
import { isIn } from '../events/domain-event.js';
import { readPrincipal } from '../events/payload-reading.js';
import type { SessionParent } from './session-row.js';
import type { SessionState } from './session.state.js';

/**
 * The state of a session's record after one more event of its stream. Never judges; throws a plain `Error` only where no
 * state can be made: an event of another stream, or one before `session.opened`.
 */
export function evolveSession(state: SessionState | null, event: DomainEvent): SessionState {
  if (!isIn('session', event)) throw new Error(`${event.type} is not an event of a session`);
  if (event.type === 'session.opened') return opened(event.payload);
  if (state === null) throw new Error(`${event.type} cannot be the first event of a session`);
  switch (event.type) {
    case 'session.harness_attached':
      return {
        ...state,
        ownerEpoch: event.payload.ownerEpoch,
        harnessInstanceId: event.payload.harnessInstanceId,
      };
    case 'session.deleted':
      return { ...state, status: 'deleted' };
    case 'session.imported':
    case 'session.repaired':
    case 'session.history_truncated':
      return state; // about the log, which is not in here
  }
}

function opened(payload: EventPayload<'session.opened'>): SessionState {
  return {
    status: 'open',
    principal: readPrincipal(payload.principal),
    ownerEpoch: 0,
    harnessInstanceId: null,
    parent: sessionParentOf(payload),
  };
}

/** Whose work the session does, as `session.opened` says; null: nobody else's. */
export function sessionParentOf(payload: Readonly<Record<string, unknown>>): SessionParent | null {
  const { parentSessionId, parentRunId, parentToolCallId, subagentId } = payload;
  if (typeof parentSessionId !== 'string') return null;
  return {
    sessionId: parentSessionId,
    ...(typeof parentRunId === 'string' ? { runId: parentRunId } : {}),
    ...(typeof parentToolCallId === 'string' ? { toolCallId: parentToolCallId } : {}),
    ...(typeof subagentId === 'string' ? { subagentId } : {}),
  };
}
