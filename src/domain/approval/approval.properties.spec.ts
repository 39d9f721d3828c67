import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { asked, at, person, voteCommand } from '../../../test/builders/approval-examples.js';
import type { DomainEvent } from '../events/catalogue.js';
import { millisOf } from '../events/instant.js';
import { hasQuorum } from './approval-progress.js';
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

const voter = fc
  .record({ sub: fc.constantFrom('fay', 'fred', 'fin', 'alice', 'agent-7', 'otto'), isAgent: fc.constant(false) })
  .map(({ sub }) => person(sub, ...(sub === 'otto' ? ['sales'] : ['finance'])));
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
      expect(used.every(({ before }) => before.status === 'granted' && hasQuorum(before))).toBe(true);
    });
  });

  it('grants only with enough distinct people who are neither the requester nor the agent', () => {
    holdsFor((steps) => {
      for (const { after, event } of steps.filter(({ event }) => event.type === 'approval.granted')) {
        const allowing = new Set(after.votes.filter(({ decision }) => decision === 'allow').map(({ sub }) => sub));
        expect(allowing.size).toBeGreaterThanOrEqual(2);
        expect(['alice', 'agent-7', 'otto'].filter((sub) => allowing.has(sub))).toEqual([]);
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

  it('records nothing after an end', () => {
    holdsFor((steps) => {
      const ended = steps.filter(({ before }) => before.status !== 'pending' && before.status !== 'granted');
      expect(ended).toEqual([]);
    });
  });
});
