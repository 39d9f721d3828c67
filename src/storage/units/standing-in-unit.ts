import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { StandingCommand } from '../../domain/standing/standing.commands.js';
import { decideStanding, type StandingEvent } from '../../domain/standing/standing.decide.js';
import { evolveStanding } from '../../domain/standing/standing.evolve.js';
import type { StandingState } from '../../domain/standing/standing.state.js';
import type { StoreReader } from '../readers/store-reader.js';
import { delegationState, grantState, standingFacts, standingRow, type StandingFacts } from '../rows/standing.row.js';
import type { Write } from '../unit.js';
import type { UnitDraft } from './unit-draft.js';

export interface StandingBefore {
  readonly kind: 'grant' | 'delegation';
  readonly state: StandingState | null;
  readonly facts: StandingFacts;
}

export async function loadStanding(
  read: StoreReader,
  kind: 'grant' | 'delegation',
  tenant: string,
  id: string,
): Promise<StandingBefore | null> {
  if (kind === 'grant') {
    const row = await read.grant(tenant, id);
    return row === null ? null : { kind, state: grantState(row), facts: standingFacts(id, row) };
  }
  const row = await read.delegation(tenant, id);
  return row === null ? null : { kind, state: delegationState(row), facts: standingFacts(id, row) };
}

/** A right that does not exist yet. */
export function standingToBe(kind: 'grant' | 'delegation', tenant: string, id: string, now: string): StandingBefore {
  const times = { createdAt: now, updatedAt: now };
  return { kind, state: null, facts: { id, tenant, version: 0, createdEventId: '', lastEventId: '', ...times } };
}

/** Decides, appends and writes the row of one standing right. @throws CountersignError when the machine refuses */
export function changeStanding(draft: UnitDraft, before: StandingBefore, command: StandingCommand): StandingState {
  const decided = decideStanding(before.state, command);
  if (!decided.ok) throw new CountersignError(decided.code, decided.message);
  const { facts } = before;
  const stream = { kind: before.kind, id: facts.id };
  const ids = draft.append(stream, facts.version, decided.events, {});
  const state = decided.events.reduce<StandingState | null>(
    (now: StandingState | null, event: StandingEvent) => evolveStanding(now, event),
    before.state,
  );
  const lastEventId = ids.at(-1);
  if (state === null || lastEventId === undefined) throw new Error('a command to a standing right makes a fact');
  const after: StandingFacts = {
    ...facts,
    version: facts.version + ids.length,
    createdEventId: before.state === null ? lastEventId : facts.createdEventId,
    lastEventId,
    updatedAt: draft.context.occurredAt,
  };
  draft.write(writeOf(before, after, state));
  return state;
}

function writeOf(before: StandingBefore, after: StandingFacts, state: StandingState): Write {
  const made = standingRow(after, state);
  const { version } = before.facts;
  if (made.table === 'grants') {
    return before.state === null
      ? { op: 'insert', table: 'grants', row: made.row, takenGuard: 'grant' }
      : { op: 'set', table: 'grants', where: { grant_id: after.id, version }, set: made.row, guard: 'grant' };
  }
  return before.state === null
    ? { op: 'insert', table: 'delegations', row: made.row, takenGuard: 'delegation' }
    : {
        op: 'set',
        table: 'delegations',
        where: { delegation_id: after.id, version },
        set: made.row,
        guard: 'delegation',
      };
}
