import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { Producer } from '../../domain/events/catalogue.js';
import type { SessionCommand } from '../../domain/session/session.commands.js';
import { decideSession } from '../../domain/session/session.decide.js';
import { evolveSession } from '../../domain/session/session.evolve.js';
import type { SessionKey } from '../../domain/session/session-key.js';
import type { SessionState } from '../../domain/session/session.state.js';
import { sessionFacts, sessionRow, sessionState, type SessionFacts } from '../rows/session.row.js';
import type { TableRow } from '../rows/tables.js';
import { RUN_STATUSES, isEnded } from '../../domain/run/run.state.js';
import type { Guard, Write } from '../unit.js';
import type { UnitDraft } from './unit-draft.js';

export interface SessionBefore {
  readonly state: SessionState | null;
  readonly facts: SessionFacts;
}

/** Ids of sessions are their callers' own words, so the stream's name holds the tenant. */
export const sessionStream = ({ tenant, sessionId }: SessionKey) =>
  ({ kind: 'session', id: `${tenant}/${sessionId}` }) as const;

export const loadedSession = (row: TableRow<'sessions'>): SessionBefore => ({
  state: sessionState(row),
  facts: sessionFacts(row),
});

/** The record of one session inside a unit in the making. */
export class SessionInUnit {
  private current: SessionState | null;
  private facts: SessionFacts;

  constructor(
    private readonly draft: UnitDraft,
    private readonly before: SessionBefore,
  ) {
    this.current = before.state;
    this.facts = before.facts;
    draft.rowsFrom({ rows: () => this.rows() });
  }

  /** After what was done so far; null before it was opened. */
  get state(): SessionState | null {
    return this.current;
  }

  /** @throws CountersignError with the code of the transition table when the machine refuses. */
  do(command: SessionCommand, producer?: Producer): this {
    const decided = decideSession(this.current, command);
    if (!decided.ok) throw new CountersignError(decided.code, decided.message);
    const { tenant, session_id: sessionId } = this.facts;
    const stream = sessionStream({ tenant, sessionId });
    this.draft.append(stream, this.facts.version, decided.events, { sessionId }, producer);
    for (const event of decided.events) {
      this.current = evolveSession(this.current, event);
      this.facts = { ...this.facts, version: this.facts.version + 1, updated_at: this.draft.context.occurredAt };
    }
    return this;
  }

  private rows(): readonly Write[] {
    const { before, current, facts } = this;
    if (current === null || facts.version === before.facts.version) return [];
    const row = sessionRow(facts, current);
    if (before.state === null) return [{ op: 'insert', table: 'sessions', row, takenGuard: 'session' }];
    const where = { tenant: row.tenant, session_id: row.session_id, version: before.facts.version };
    return [{ op: 'set', table: 'sessions', where, set: row, guard: 'session' }];
  }
}

/** The session is open and this attachment is still its owner. */
export function sessionIsOwned({ tenant, sessionId }: SessionKey, ownerEpoch: number): Guard {
  return {
    name: 'session_owner',
    table: 'sessions',
    where: { tenant, session_id: sessionId, status: 'open', owner_epoch: ownerEpoch },
    expect: 'present',
  };
}

const OPEN = RUN_STATUSES.filter((status) => !isEnded(status));

/** No run of the session is under way, and none begins before this unit. */
export function hasNoOpenRun(tenant: string, sessionId: string): Guard {
  return {
    name: 'session_run',
    table: 'runs',
    where: { tenant, session_id: sessionId, status: { oneOf: OPEN } },
    expect: 'absent',
  };
}
