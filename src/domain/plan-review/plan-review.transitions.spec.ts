import { describe, expect, it } from '@jest/globals';
import {
  answersOf,
  edgesTaken,
  lineOf,
  rowsOf,
  type Machine,
  type Trial,
} from '../../../test/builders/machine-table.js';
import type { Voter } from '../approval/approval.commands.js';
import { CATALOGUE, type DomainEvent } from '../events/catalogue.js';
import { payloadProblem } from '../events/payload-shape.js';
import type { PlanReviewCommand, PlanReviewCommandKind, PlanReviewCommandOf } from './plan-review.commands.js';
import { decidePlanReview } from './plan-review.decide.js';
import { evolvePlanReview, foldPlanReview } from './plan-review.evolve.js';
import type { PlanReviewState, PlanReviewStatus } from './plan-review.state.js';
import { PLAN_REVIEW_ANSWERS, PLAN_REVIEW_NEXT, PLAN_REVIEW_SITUATIONS } from './plan-review.transitions.js';

const NOW = '2031-01-01T10:00:00.000Z';
const DECIDE_BY = '2031-01-01T11:00:00.000Z';
const PLAN_DIGEST = 'sha256:plan';
const FAY: Voter = { sub: 'fay', groups: ['finance'], isAgent: false };

const REQUIRE: PlanReviewCommand = {
  kind: 'require',
  question: {
    planReviewId: 'prv_1',
    plan: ['look', 'refund'],
    planDigest: PLAN_DIGEST,
    expiresAt: DECIDE_BY,
    requesterSubjects: ['alice', 'agent-7'],
  },
};
const word = (more: Partial<PlanReviewCommandOf<'decide'>> = {}): PlanReviewCommand => ({
  kind: 'decide',
  voter: FAY,
  decision: 'approved',
  planDigest: PLAN_DIGEST,
  reason: null,
  now: NOW,
  ...more,
});

const TO: Readonly<Record<PlanReviewStatus, readonly PlanReviewCommand[]>> = {
  pending: [],
  approved: [word()],
  rejected: [word({ decision: 'rejected' })],
  expired: [{ kind: 'expire', now: DECIDE_BY }],
  invalidated: [{ kind: 'invalidate' }],
  closed: [{ kind: 'end_run' }],
};

function story(status: PlanReviewStatus): readonly DomainEvent[] {
  const events: DomainEvent[] = [];
  for (const command of [REQUIRE, ...TO[status]]) {
    const decided = decidePlanReview(foldPlanReview(events), command);
    if (!decided.ok) throw new Error(decided.code);
    events.push(...decided.events);
  }
  return events;
}

function stateIn(status: PlanReviewStatus): PlanReviewState {
  const state = foldPlanReview(story(status));
  if (state === null) throw new Error('a story makes a state');
  return state;
}

type Trials = {
  readonly [K in PlanReviewCommandKind]: {
    readonly [V in keyof (typeof PLAN_REVIEW_ANSWERS)[K]]: Trial<PlanReviewState, PlanReviewCommand>;
  };
};
const always = (command: PlanReviewCommand): Trial<PlanReviewState, PlanReviewCommand> => ({ command: () => command });
const TRIALS: Trials = {
  require: { any: always(REQUIRE) },
  decide: {
    approve: always(word()),
    reject: always(word({ decision: 'rejected' })),
    approve_by_another: always(word({ voter: { ...FAY, sub: 'otto' } })),
    too_late: always(word({ now: DECIDE_BY, voter: { ...FAY, sub: 'otto' } })),
    by_an_agent: always(word({ voter: { ...FAY, isAgent: true } })),
    by_an_outsider: always(word({ voter: { ...FAY, sub: 'sam', groups: [] } })),
    by_the_requester: always(word({ voter: { ...FAY, sub: 'alice' } })),
    on_another_digest: always(word({ planDigest: 'sha256:other', voter: { ...FAY, sub: 'otto' } })),
  },
  expire: {
    at_the_deadline: always({ kind: 'expire', now: DECIDE_BY }),
    too_early: always({ kind: 'expire', now: NOW }),
  },
  invalidate: { any: always({ kind: 'invalidate' }) },
  end_run: { any: always({ kind: 'end_run' }) },
};
const ROWS = rowsOf<PlanReviewState, PlanReviewCommand>(TRIALS);
const machine: Machine<PlanReviewState, PlanReviewCommand> = {
  decide: decidePlanReview,
  evolve: evolvePlanReview,
  columns: PLAN_REVIEW_SITUATIONS,
  examplesOf: (column) => [column === 'none' ? null : stateIn(column as PlanReviewStatus)],
};

describe('the tables of plan reviews', () => {
  it.each(ROWS)('say of $kind ($variant) in every status exactly what the code says', (row) => {
    expect(answersOf(machine, row)).toEqual(lineOf(PLAN_REVIEW_ANSWERS, row));
  });

  it('lead from pending alone, each command to its own end', () => {
    const { require, ...ends } = PLAN_REVIEW_NEXT;
    const taken = edgesTaken(machine, ROWS).map((edge) => edge.replace(/--.*-->/, '->'));
    const expected = [`none -> ${require}`, ...Object.values(ends).map((end) => `pending -> ${end}`)];
    expect([...new Set(taken)].sort()).toEqual(expected.sort());
  });

  it('make facts that fit the catalogue', () => {
    for (const status of Object.keys(TO) as PlanReviewStatus[]) {
      for (const { type, payload } of story(status)) {
        expect(payloadProblem(CATALOGUE[type].shape, payload)).toBeNull();
      }
    }
  });

  it('refuse an event that has no beginning, and one of another stream', () => {
    const closed: DomainEvent = { type: 'plan_review.closed', payload: { planReviewId: 'p', reason: 'expired' } };
    expect(() => evolvePlanReview(null, closed)).toThrow('first event');
    expect(() => evolvePlanReview(null, { type: 'pause.cleared', payload: { target: {} } })).toThrow('plan review');
  });
});
