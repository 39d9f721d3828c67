import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { asked, at, person } from '../../../test/builders/approval-examples.js';
import { approvalFacts, progressOf } from './approval-progress.js';
import { distinctPeople, ownGroups, voiceOf } from './approval.people.js';
import type { ApprovalState, Vote } from './approval.state.js';

const NOW = at('10:00:00');
const lent = (from: string, to: string, until = at('11:00:00')): ApprovalState => ({
  ...asked(),
  delegations: [{ from, to, until, groups: ['finance'] }],
});
const allow = (sub: string, ...onBehalfOf: string[]): Vote => ({
  sub,
  decision: 'allow',
  groups: ['finance'],
  ...(onBehalfOf.length === 0 ? {} : { onBehalfOf }),
});

describe('what a person may speak for', () => {
  it('is the groups of the question that they are in', () => {
    expect(voiceOf(asked(), person('fay', 'finance', 'chess'), NOW)).toEqual({ groups: ['finance'], onBehalfOf: [] });
    expect(voiceOf(asked(), person('otto', 'sales'), NOW).groups).toEqual([]);
  });

  it('is what was lent to them, until its time is over', () => {
    const state = lent('fay', 'dora', at('10:30:00'));
    expect(voiceOf(state, person('dora'), NOW)).toEqual({ groups: ['finance'], onBehalfOf: ['fay'] });
    expect(voiceOf(state, person('dora'), at('10:30:00')).groups).toEqual([]);
  });

  it('is what stands lent to them, in the groups that the lender has', () => {
    const dora = (...groups: string[]) => ({ ...person('dora'), deputyFor: [{ from: 'fay', groups }] });
    expect(voiceOf(asked(), dora('finance', 'chess'), NOW)).toEqual({ groups: ['finance'], onBehalfOf: ['fay'] });
    expect(voiceOf(asked(), dora('chess'), NOW)).toEqual({ groups: [], onBehalfOf: [] });
  });

  it('names a lender also where the person is a member themselves: the two are one', () => {
    expect(voiceOf(lent('fay', 'fred'), person('fred', 'finance'), NOW).onBehalfOf).toEqual(['fay']);
  });

  it('is never the requester’s, whether they lend or borrow', () => {
    expect(voiceOf(lent('alice', 'dora'), person('dora'), NOW).groups).toEqual([]);
    expect(voiceOf(lent('fay', 'alice'), person('alice'), NOW).groups).toEqual([]);
    const standing = { ...person('dora'), deputyFor: [{ from: 'alice', groups: ['finance'] }] };
    expect(voiceOf(asked(), standing, NOW).groups).toEqual([]);
  });

  it('is one step only: what was lent to somebody is not theirs to lend', () => {
    const state = {
      ...asked(),
      delegations: [{ from: 'fay', to: 'dora', until: at('11:00:00'), groups: ['finance'] }],
    };
    expect(ownGroups(state, person('dora'))).toEqual([]);
  });

  it('includes the groups that a question was widened to, in the group that was asked', () => {
    const state = { ...asked(), escalations: [{ group: 'finance', to: 'board' }] };
    expect(voiceOf(state, person('bea', 'board'), NOW).groups).toEqual(['finance']);
    expect(voiceOf(state, person('alice', 'board'), NOW).groups).toEqual([]);
  });
});

describe('distinct people', () => {
  it('are one where a delegation links them, in whatever order they vote', () => {
    expect(distinctPeople([allow('dora', 'fay'), allow('fay')])).toHaveLength(1);
    expect(distinctPeople([allow('fay'), allow('dora', 'fay')])).toHaveLength(1);
    expect(distinctPeople([allow('dora', 'fay'), allow('eli', 'fay')])).toHaveLength(1);
    expect(distinctPeople([allow('dora', 'fay'), allow('fred')])).toHaveLength(2);
  });

  it('count so for the quorum and for the facts of the policy', () => {
    const state = { ...asked(), votes: [allow('dora', 'fay'), allow('fay')] };
    expect(progressOf(state)).toEqual([{ group: 'finance', count: 2, have: 1 }]);
    expect(approvalFacts(state)['finance']?.count).toBe(1);
  });

  it('are never more than the votes, and their number does not depend on the order', () => {
    const vote = fc
      .tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.subarray(['a', 'b', 'c', 'd']))
      .map(([sub, others]) => allow(sub, ...others.filter((other) => other !== sub)));
    fc.assert(
      fc.property(fc.array(vote, { maxLength: 6 }), (votes) => {
        const people = distinctPeople(votes);
        expect(people.length).toBeLessThanOrEqual(votes.length);
        expect(distinctPeople(votes.toReversed())).toHaveLength(people.length);
        expect(new Set(people.flat()).size).toBe(people.flat().length);
      }),
    );
  });
});
