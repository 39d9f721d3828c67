import { describe, expect, it } from '@jest/globals';
import {
  answersOf,
  edgesOf,
  edgesTaken,
  lineOf,
  rowsOf,
  type Machine,
  type Trial,
} from '../../../test/builders/machine-table.js';
import type { Voter } from '../approval/approval.commands.js';
import { CATALOGUE, type DomainEvent } from '../events/catalogue.js';
import type { StandingCommand, StandingCommandKind, StandingCommandOf } from './standing.commands.js';
import { decideStanding } from './standing.decide.js';
import { evolveStanding, foldStanding } from './standing.evolve.js';
import type { StandingState, StandingStatus } from './standing.state.js';
import { STANDING_ANSWERS, STANDING_EDGES, STANDING_SITUATIONS } from './standing.transitions.js';

const NOW = '2031-01-01T10:00:00.000Z';
const UNTIL = '2031-01-01T11:00:00.000Z';
const FAY: Voter = { sub: 'fay', groups: ['finance'], isAgent: false };
const OTTO: Voter = { sub: 'otto', groups: ['finance'], isAgent: false };
const HOUR = 3_600_000;

const grant = (more: Partial<StandingCommandOf<'grant'>> = {}): StandingCommand => ({
  kind: 'grant',
  holder: FAY,
  capability: 'refund.create',
  group: 'finance',
  principalSub: 'alice',
  principalAct: null,
  argumentsEqual: { '/currency': 'EUR' },
  until: UNTIL,
  reason: 'this hour only',
  msMax: HOUR,
  now: NOW,
  ...more,
});
const lend = (more: Partial<StandingCommandOf<'delegate'>> = {}): StandingCommand => ({
  kind: 'delegate',
  holder: FAY,
  to: 'dora',
  groups: ['finance'],
  until: UNTIL,
  reason: null,
  msMax: HOUR,
  now: NOW,
  ...more,
});
const revoke = (holder: Voter, mayRevokeOthers = false): StandingCommand => ({
  kind: 'revoke',
  holder,
  mayRevokeOthers,
  reason: 'enough',
});

const made = (command: StandingCommand): readonly DomainEvent[] => {
  const decided = decideStanding(null, command);
  if (!decided.ok) throw new Error(decided.code);
  return decided.events;
};
const stateIn = (kind: 'grant' | 'delegation', status: StandingStatus): StandingState => {
  const first = made(kind === 'grant' ? grant() : lend());
  const by = { sub: 'fay' };
  const then: Record<StandingStatus, readonly DomainEvent[]> = {
    active: [],
    revoked: [{ type: `${kind}.revoked`, payload: { by } }],
    expired: [{ type: `${kind}.expired`, payload: { deadline: UNTIL, noticedAt: UNTIL } }],
  };
  const state = foldStanding([...first, ...then[status]]);
  if (state === null) throw new Error('a state');
  return state;
};

type Trials = {
  readonly [K in StandingCommandKind]: {
    readonly [V in keyof (typeof STANDING_ANSWERS)[K]]: Trial<StandingState, StandingCommand>;
  };
};
const always = (command: StandingCommand): Trial<StandingState, StandingCommand> => ({ command: () => command });
const TRIALS: Trials = {
  grant: {
    own_right: always(grant()),
    by_an_agent: always(grant({ holder: { ...FAY, isAgent: true } })),
    of_another_group: always(grant({ group: 'legal' })),
    to_themselves: always(grant({ principalSub: 'fay' })),
    already_over: always(grant({ until: NOW })),
    for_too_long: always(grant({ until: '2031-01-01T11:00:00.001Z' })),
  },
  delegate: {
    own_right: always(lend()),
    by_an_agent: always(lend({ holder: { ...FAY, isAgent: true } })),
    of_another_group: always(lend({ groups: ['finance', 'legal'] })),
    of_no_group: always(lend({ groups: [] })),
    to_themselves: always(lend({ to: 'fay' })),
    already_over: always(lend({ until: NOW })),
  },
  revoke: {
    own: always(revoke(FAY)),
    of_another: always(revoke(OTTO)),
    of_another_by_one_who_may: always(revoke(OTTO, true)),
    by_an_agent: always(revoke({ ...FAY, isAgent: true })),
  },
  expire: {
    at_its_time: always({ kind: 'expire', now: UNTIL }),
    too_early: always({ kind: 'expire', now: NOW }),
  },
};
const ROWS = rowsOf<StandingState, StandingCommand>(TRIALS);
const machine: Machine<StandingState, StandingCommand> = {
  decide: decideStanding,
  evolve: evolveStanding,
  columns: STANDING_SITUATIONS,
  examplesOf: (column) =>
    column === 'none'
      ? [null]
      : (['grant', 'delegation'] as const).map((kind) => stateIn(kind, column as StandingStatus)),
};

describe('the tables of standing rights', () => {
  it.each(ROWS)('say of $kind ($variant) in every status exactly what the code says', (row) => {
    expect(answersOf(machine, row)).toEqual(lineOf(STANDING_ANSWERS, row));
  });

  it('hold exactly the edges that the commands take and that the fold follows', () => {
    expect(edgesTaken(machine, ROWS)).toEqual(edgesOf(STANDING_EDGES));
  });

  it('have a row for every event type of their streams', () => {
    const registered = Object.entries(CATALOGUE).filter(
      ([, { stream }]) => stream === 'grant' || stream === 'delegation',
    );
    expect(Object.keys(STANDING_EDGES).sort()).toEqual(registered.map(([type]) => type).sort());
  });

  it('refuse an event that has no beginning, and one of another stream', () => {
    expect(() => evolveStanding(null, { type: 'grant.revoked', payload: { by: { sub: 'fay' } } })).toThrow(
      'first event',
    );
    expect(() => evolveStanding(null, { type: 'pause.cleared', payload: { target: {} } })).toThrow('standing right');
  });
});
