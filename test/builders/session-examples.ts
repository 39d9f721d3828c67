import type { DomainEvent } from '../../src/domain/events/catalogue.js';
import { evolveSession } from '../../src/domain/session/session.evolve.js';
import type { SessionState, SessionStatus } from '../../src/domain/session/session.state.js';

/** One session of an agent for a person, that another session handed its work to. */

const OPEN: readonly DomainEvent[] = [
  {
    type: 'session.opened',
    payload: {
      principal: { sub: 'alice', act: 'agent-7' },
      parentSessionId: 'parent',
      parentRunId: 'run_1',
      subagentId: 'sub_1',
      formatVersion: 1,
    },
  },
  { type: 'session.harness_attached', payload: { harnessInstanceId: 'harness-a', ownerEpoch: 1 } },
];

export const SESSION_HISTORIES: Readonly<Record<SessionStatus, readonly DomainEvent[]>> = {
  open: OPEN,
  deleted: [...OPEN, { type: 'session.deleted', payload: { reason: 'asked for' } }],
};

export function sessionIn(status: SessionStatus): SessionState {
  const state = SESSION_HISTORIES[status].reduce<SessionState | null>(evolveSession, null);
  if (state === null) throw new Error(`no history for ${status}`);
  return state;
}
