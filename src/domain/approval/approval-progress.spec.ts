import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { approvalIn, asked } from '../../../test/builders/approval-examples.js';
import { approvalFacts, consenting, hasQuorum, progressOf } from './approval-progress.js';
import { ownGroups } from './approval.people.js';
import { APPROVAL_STATUSES, type ApprovalState, type Vote } from './approval.state.js';

const TWO_GROUPS = {
  groups: [
    { group: 'finance', count: 2, notRequester: true },
    { group: 'owners', count: 1, notRequester: false },
  ],
};
const allow = (sub: string, ...groups: string[]): Vote => ({ sub, decision: 'allow', groups });
const withVotes = (...votes: Vote[]): ApprovalState => ({ ...asked(TWO_GROUPS), votes });

describe('the progress of an approval', () => {
  it('starts at nobody, in the order of the question', () => {
    expect(progressOf(withVotes())).toEqual([
      { group: 'finance', count: 2, have: 0 },
      { group: 'owners', count: 1, have: 0 },
    ]);
  });

  it('counts distinct people who allow, each in every group they are in', () => {
    const state = withVotes(allow('fay', 'finance', 'owners'), allow('fay', 'finance'), {
      sub: 'fred',
      decision: 'deny',
      groups: ['finance'],
    });
    expect(progressOf(state).map(({ have }) => have)).toEqual([1, 1]);
  });

  it('does not count the requester where that is excluded, even if a vote claims the group', () => {
    const state = withVotes(allow('alice', 'finance', 'owners'));
    expect(progressOf(state).map(({ have }) => have)).toEqual([0, 1]);
  });

  it('does not count a group that was not asked', () => {
    expect(consenting(withVotes(allow('otto', 'sales'), allow('fay', 'finance')))).toEqual(['fay']);
  });

  it('has its quorum only when every group has its people, and never without a group', () => {
    expect(hasQuorum(withVotes(allow('fay', 'finance'), allow('fred', 'finance')))).toBe(false);
    expect(hasQuorum(withVotes(allow('fay', 'finance'), allow('fred', 'finance', 'owners')))).toBe(true);
    expect(hasQuorum({ ...withVotes(), rules: [] })).toBe(false);
  });

  it('knows for which groups a person may decide', () => {
    const state = withVotes();
    expect(ownGroups(state, { sub: 'alice', groups: ['finance', 'owners', 'chess'] })).toEqual(['owners']);
    expect(ownGroups(state, { sub: 'fay', groups: ['finance', 'owners'] })).toEqual(['finance', 'owners']);
    expect(ownGroups(state, { sub: 'fay', groups: ['Finance'] })).toEqual([]);
  });
});

describe('the facts for the policy', () => {
  it('say per group how many people allow and whether the requester is among them', () => {
    const state = withVotes(allow('fay', 'finance'), allow('alice', 'finance', 'owners'));
    expect(approvalFacts(state)).toEqual({
      finance: { count: 1, includesRequester: false },
      owners: { count: 1, includesRequester: true },
    });
  });

  it.each(APPROVAL_STATUSES)('hold consent only while it is to be had (%s)', (status) => {
    const live = status === 'pending' || status === 'granted';
    const state = { ...approvalIn(status), votes: [allow('fay', 'finance')] };
    expect(approvalFacts(state)['finance']?.count).toBe(live ? 1 : 0);
  });

  it('never count more people than have voted, nor one of them twice', () => {
    const anyVote = fc.record({
      sub: fc.constantFrom('fay', 'fred', 'alice', 'agent-7', 'lou'),
      decision: fc.constantFrom('allow' as const, 'deny' as const),
      groups: fc.subarray(['finance', 'owners', 'sales']),
    });
    fc.assert(
      fc.property(fc.array(anyVote, { maxLength: 12 }), (votes) => {
        const people = new Set(votes.filter(({ decision }) => decision === 'allow').map(({ sub }) => sub));
        const facts = approvalFacts(withVotes(...votes));
        expect(facts['finance']?.count).toBeLessThanOrEqual(people.size);
        expect(facts['owners']?.count).toBeLessThanOrEqual(people.size);
        expect(facts['finance']?.includesRequester).toBe(false);
      }),
    );
  });
});
