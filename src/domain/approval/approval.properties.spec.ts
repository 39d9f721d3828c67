import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  asked,
  at,
  breakGlassCommand,
  delegateCommand,
  editCommand,
  escalateCommand,
  EVA,
  person,
  reviewCommand,
  voteCommand,
} from '../../../test/builders/approval-examples.js';
import type { DomainEvent } from '../events/catalogue.js';
import { millisOf } from '../events/instant.js';
import { hasConsent, hasQuorum } from './approval-progress.js';
import type { ApprovalCommand } from './approval.commands.js';
import { decideApproval } from './approval.decide.js';
import { evolveApproval } from './approval.evolve.js';
import type { ApprovalState } from './approval.state.js';
import { APPROVAL_EDGES } from './approval.transitions.js';

interface Step {
  readonly before: ApprovalState;
  readonly event: DomainEvent;
  readonly after: ApprovalState;
}

/** Whoever is not named here is in finance. */
const GROUPS: Readonly<Record<string, readonly string[]>> = { otto: ['sales'], dora: [], bea: ['board'] };
const voter = fc
  .record({
    sub: fc.constantFrom('fay', 'fred', 'fin', 'alice', 'agent-7', 'otto', 'dora', 'bea'),
    isAgent: fc.constant(false),
  })
  .map(({ sub }) => person(sub, ...(GROUPS[sub] ?? ['finance'])));
const now = fc.constantFrom('10:00:00', '10:05:00', '10:14:59', '10:30:00', '10:59:59', '11:00:00', '11:20:00').map(at);

const command: fc.Arbitrary<ApprovalCommand> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .tuple(voter, fc.constantFrom('allow' as const, 'allow' as const, 'deny' as const), now)
      .map(([who, word, when]) => voteCommand(who, word, { now: when })),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(voter, now)
      .map(([who, when]) => ({ kind: 'withdraw_vote' as const, voter: who, reason: null, now: when })),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(voter, fc.constantFrom('dora', 'fred', 'alice', 'otto'), now)
      .map(([who, to, when]) => delegateCommand(who, { to, now: when })),
  },
  { weight: 1, arbitrary: fc.tuple(voter, now).map(([who, when]) => escalateCommand(who, when)) },
  { weight: 1, arbitrary: now.map((when) => ({ kind: 'escalate_due' as const, now: when })) },
  { weight: 1, arbitrary: fc.constantFrom(EVA, person('alice')).map((who) => breakGlassCommand(who)) },
  { weight: 1, arbitrary: voter.map((who) => reviewCommand(who)) },
  { weight: 1, arbitrary: voter.map((who) => editCommand(who)) },
  { weight: 2, arbitrary: now.map((when) => ({ kind: 'expire' as const, now: when })) },
  {
    weight: 3,
    arbitrary: now.map((when) => ({ kind: 'consume' as const, consumption: { attempt: 1, nonce: 'n' }, now: when })),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'close' as const, closing: { reason: 'stopped' as const } }) },
  {
    weight: 1,
    arbitrary: fc.constant({ kind: 'invalidate' as const, invalidation: { reason: 'policy_changed' as const } }),
  },
);

function play(commands: readonly ApprovalCommand[]): Step[] {
  const steps: Step[] = [];
  let state = asked();
  for (const next of commands) {
    const decided = decideApproval(state, next);
    for (const event of decided.ok ? decided.events : []) {
      const after = evolveApproval(state, event);
      steps.push({ before: state, event, after });
      state = after;
    }
  }
  return steps;
}

/** Votes that add no person: of two that a delegation links, one. */
function lentOnly({ votes }: ApprovalState): number {
  const allowing = votes.filter(({ decision }) => decision === 'allow');
  const links = allowing.flatMap(({ sub, onBehalfOf = [] }) => onBehalfOf.map((other) => [sub, other] as const));
  const group = new Map(allowing.map(({ sub }) => [sub, sub]));
  for (const link of links) for (const one of link) if (!group.has(one)) group.set(one, one);
  const root = (one: string): string => (group.get(one) === one ? one : root(group.get(one) ?? one));
  for (const [a, b] of links) group.set(root(a), root(b));
  return allowing.length - new Set(allowing.map(({ sub }) => root(sub))).size;
}

const holdsFor = (check: (steps: Step[]) => void): void =>
  fc.assert(
    fc.property(fc.array(command, { maxLength: 25, size: 'max' }), (commands) => check(play(commands))),
    { numRuns: 500 },
  );

describe('any sequence of commands to an approval', () => {
  it('takes only edges of the table', () => {
    holdsFor((steps) => {
      const outside = steps.filter(
        ({ before, event, after }) =>
          (APPROVAL_EDGES as Record<string, Record<string, string>>)[event.type]?.[before.status] !== after.status,
      );
      expect(outside).toEqual([]);
    });
  });

  it('uses the approval at most once, and only with a quorum that was never broken since the grant', () => {
    holdsFor((steps) => {
      const used = steps.filter(({ event }) => event.type === 'approval.consumed');
      expect(used.length).toBeLessThanOrEqual(1);
      expect(used.every(({ before }) => before.status === 'granted' && hasConsent(before))).toBe(true);
      const emergencies = steps.filter(({ event }) => event.type === 'approval.break_glass_used').length;
      if (emergencies === 0) expect(used.every(({ before }) => hasQuorum(before))).toBe(true);
    });
  });

  it('grants only with enough distinct people who are neither the requester nor the agent', () => {
    holdsFor((steps) => {
      for (const { after, event } of steps.filter(
        ({ event, after: { breakGlass } }) => event.type === 'approval.granted' && breakGlass === null,
      )) {
        const allowing = new Set(after.votes.filter(({ decision }) => decision === 'allow').map(({ sub }) => sub));
        expect(allowing.size).toBeGreaterThanOrEqual(2);
        // Bea is asked only once the question was widened, Otto and Dora only with what was lent to them.
        const linked = new Set(after.votes.flatMap(({ sub, onBehalfOf = [] }) => (onBehalfOf.length > 0 ? [sub] : [])));
        expect(['otto', 'dora'].filter((sub) => allowing.has(sub) && !linked.has(sub))).toEqual([]);
        if (after.escalations.length === 0) expect(allowing.has('bea')).toBe(false);
        expect(allowing.size - lentOnly(after)).toBeGreaterThanOrEqual(2);
        expect(['alice', 'agent-7'].filter((sub) => allowing.has(sub))).toEqual([]);
        expect(after.votes.some(({ decision }) => decision === 'deny')).toBe(false);
        expect(event.payload).toMatchObject({ decidedBy: [...allowing] });
      }
    });
  });

  it('never sets the second clock beyond the window nor beyond the latest time', () => {
    holdsFor((steps) => {
      const grants = steps.flatMap(({ event }) => (event.type === 'approval.granted' ? [event.payload] : []));
      for (const { decidedAt, executeBy } of grants) {
        expect(millisOf(executeBy)).toBeLessThanOrEqual(millisOf(decidedAt) + 900_000);
        expect(millisOf(executeBy)).toBeLessThanOrEqual(millisOf(at('18:00:00')));
      }
    });
  });

  it('records nothing after an end but the review that is owed', () => {
    holdsFor((steps) => {
      const ended = steps.filter(({ before }) => before.status !== 'pending' && before.status !== 'granted');
      expect(ended.filter(({ event }) => event.type !== 'approval.review_recorded')).toEqual([]);
      expect(ended.every(({ before }) => before.breakGlass !== null && before.review === null)).toBe(true);
    });
  });
});
