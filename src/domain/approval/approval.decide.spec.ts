import { describe, expect, it } from '@jest/globals';
import {
  approvalIn,
  asked,
  at,
  FAY,
  FRED,
  person,
  question,
  voteCommand,
} from '../../../test/builders/approval-examples.js';
import type { DomainEvent } from '../events/catalogue.js';
import type { ApprovalCommand, Voter } from './approval.commands.js';
import { decideApproval } from './approval.decide.js';
import { foldApproval } from './approval.evolve.js';
import type { ApprovalState } from './approval.state.js';

function eventsOf(state: ApprovalState | null, command: ApprovalCommand): readonly DomainEvent[] {
  const decided = decideApproval(state, command);
  if (!decided.ok) throw new Error(`${decided.code}: ${decided.message}`);
  return decided.events;
}

const codeOf = (state: ApprovalState, command: ApprovalCommand): string | undefined => {
  const decided = decideApproval(state, command);
  return decided.ok ? undefined : decided.code;
};

/** Plays commands one after another; each must be allowed. */
function after(state: ApprovalState, ...commands: readonly ApprovalCommand[]): ApprovalState {
  return commands.reduce((now, command) => foldApproval(now, eventsOf(now, command)) ?? now, state);
}

const withdraw = (voter: Voter): ApprovalCommand => ({
  kind: 'withdraw_vote',
  voter,
  reason: 'second thoughts',
  now: at('10:05:00'),
});

const consume = (now: string, attempt = 1): ApprovalCommand => ({
  kind: 'consume',
  consumption: { attempt, nonce: 'nonce-1' },
  now,
});

describe('a vote', () => {
  it('is recorded with the subject, the groups it counts in, the digest and the words', () => {
    expect(eventsOf(asked(), voteCommand(person('fay', 'finance', 'chess'), 'allow', { reason: 'fine' }))).toEqual([
      {
        type: 'approval.vote_recorded',
        payload: {
          by: { sub: 'fay' },
          decision: 'allow',
          groups: ['finance'],
          consentDigest: 'sha256:consent',
          reason: 'fine',
        },
      },
    ]);
  });

  it('that completes the quorum grants, with everybody who allowed and the second clock', () => {
    const state = after(asked(), voteCommand(FAY, 'allow'));
    const events = eventsOf(state, voteCommand(FRED, 'allow', { now: at('10:30:00') }));
    expect(events.map(({ type }) => type)).toEqual(['approval.vote_recorded', 'approval.granted']);
    expect(events[1]?.payload).toEqual({
      decidedBy: ['fay', 'fred'],
      decidedAt: at('10:30:00'),
      executeBy: at('10:45:00'),
    });
  });

  it('never grants beyond the latest time the question named', () => {
    const state = asked({
      groups: [{ group: 'finance', count: 1, notRequester: true }],
      executeByLatest: at('10:05:00'),
    });
    const [, granted] = eventsOf(state, voteCommand(FAY, 'allow'));
    expect(granted?.payload).toMatchObject({ executeBy: at('10:05:00') });
  });

  it('of one person is one, in however many sessions they repeat it', () => {
    const state = after(asked(), voteCommand(FAY, 'allow'));
    expect(eventsOf(state, voteCommand(FAY, 'allow', { now: at('10:20:00') }))).toEqual([]);
    expect(after(state, voteCommand(FAY, 'allow')).status).toBe('pending');
  });

  it('that denies ends the question, whatever others allowed before', () => {
    const state = after(asked(), voteCommand(FAY, 'allow'));
    expect(eventsOf(state, voteCommand(FRED, 'deny', { reason: 'wrong order' }))).toEqual([
      expect.objectContaining({ type: 'approval.vote_recorded' }),
      {
        type: 'approval.denied',
        payload: { decidedBy: ['fred'], decidedAt: at('10:00:00'), comment: 'wrong order' },
      },
    ]);
  });

  it('counts in every group the person is in', () => {
    const state = asked({
      groups: [
        { group: 'finance', count: 1, notRequester: true },
        { group: 'legal', count: 1, notRequester: true },
      ],
    });
    expect(after(state, voteCommand(person('lea', 'finance', 'legal'), 'allow')).status).toBe('granted');
    expect(after(state, voteCommand(FAY, 'allow'), voteCommand(person('lou', 'legal'), 'allow')).status).toBe(
      'granted',
    );
    expect(after(state, voteCommand(FAY, 'allow'), voteCommand(FRED, 'allow')).status).toBe('pending');
  });

  it('of the requester is refused where the rule says so and counts where it does not', () => {
    const alice = person('alice', 'finance', 'owners');
    expect(codeOf(asked(), voteCommand(alice, 'allow'))).toBe('approver_not_allowed');
    const state = asked({
      groups: [
        { group: 'finance', count: 1, notRequester: true },
        { group: 'owners', count: 1, notRequester: false },
      ],
    });
    const voted = after(state, voteCommand(alice, 'allow'));
    expect(voted.votes).toEqual([{ sub: 'alice', decision: 'allow', groups: ['owners'] }]);
    expect(voted.status).toBe('pending');
    expect(after(voted, voteCommand(FAY, 'allow')).status).toBe('granted');
  });

  it('of the agent itself is refused even when the agent is in the group', () => {
    expect(codeOf(asked(), voteCommand(person('agent-7', 'finance'), 'allow'))).toBe('approver_not_allowed');
    expect(codeOf(asked(), voteCommand({ ...FAY, isAgent: true }, 'deny'))).toBe('approver_not_allowed');
  });

  it('is refused from the deadline on, and the approval can then be expired', () => {
    const late = voteCommand(FAY, 'allow', { now: at('11:00:00') });
    expect(codeOf(asked(), late)).toBe('approval_expired');
    expect(codeOf(asked(), voteCommand(FAY, 'allow', { now: '2031-01-01T10:59:59.999Z' }))).toBeUndefined();
    expect(eventsOf(asked(), { kind: 'expire', now: at('11:00:00') })).toEqual([
      {
        type: 'approval.expired',
        payload: { clock: 'decide', deadline: at('11:00:00'), noticedAt: at('11:00:00') },
      },
    ]);
  });

  it('compares times as times, not as text', () => {
    const state = asked({ decideBy: '2031-01-01T11:00:00+02:00', expiresAt: '2031-01-01T11:00:00+02:00' });
    expect(codeOf(state, voteCommand(FAY, 'allow', { now: at('09:00:00') }))).toBe('approval_expired');
  });
});

describe('withdrawing a vote', () => {
  const granted = after(asked(), voteCommand(FAY, 'allow'), voteCommand(FRED, 'allow'));

  it('while pending lets the person think again', () => {
    const state = after(asked(), voteCommand(FAY, 'allow'), withdraw(FAY));
    expect(state.votes).toEqual([]);
    expect(after(state, voteCommand(FAY, 'deny')).status).toBe('denied');
  });

  it('invalidates a grant that loses its quorum', () => {
    expect(eventsOf(granted, withdraw(FAY))).toEqual([
      { type: 'approval.vote_withdrawn', payload: { by: { sub: 'fay' }, reason: 'second thoughts' } },
      { type: 'approval.invalidated', payload: { reason: 'vote_withdrawn' } },
    ]);
    expect(after(granted, withdraw(FAY)).status).toBe('invalidated');
  });

  it('leaves a grant alone that still has its quorum, without the person behind it', () => {
    const two = asked({
      groups: [
        { group: 'finance', count: 1, notRequester: true },
        { group: 'legal', count: 1, notRequester: true },
      ],
    });
    const votes = [voteCommand(FAY, 'allow'), voteCommand(FRED, 'allow'), voteCommand(person('lou', 'legal'), 'allow')];
    const state = after(after(two, ...votes), withdraw(FAY));
    expect(state).toMatchObject({ status: 'granted', decidedBy: ['fred', 'lou'] });
  });

  it('is for the own vote only, and over once the approval is used', () => {
    expect(codeOf(granted, withdraw(person('una', 'finance')))).toBe('approver_not_allowed');
    expect(codeOf(approvalIn('consumed'), withdraw(person('una', 'finance')))).toBe('approval_already_consumed');
  });
});

describe('using an approval', () => {
  it('works once, before executeBy and not at it', () => {
    const granted = approvalIn('granted');
    expect(codeOf(granted, consume(at('10:15:00')))).toBe('approval_expired');
    const used = after(granted, consume('2031-01-01T10:14:59.999Z'));
    expect(used).toMatchObject({ status: 'consumed', executeBy: at('10:15:00'), decidedBy: ['una', 'ugo'] });
    expect(codeOf(used, consume(at('10:14:00')))).toBe('approval_already_consumed');
  });

  it('expires by the second clock once granted', () => {
    expect(eventsOf(approvalIn('granted'), { kind: 'expire', now: at('10:16:00') })).toEqual([
      {
        type: 'approval.expired',
        payload: { clock: 'execute', deadline: at('10:15:00'), noticedAt: at('10:16:00') },
      },
    ]);
  });
});

describe('a question', () => {
  it.each([
    ['nobody', { groups: [] }],
    ['no person of a group', { groups: [{ group: 'finance', count: 0, notRequester: true }] }],
    ['half a person', { groups: [{ group: 'finance', count: 0.5, notRequester: true }] }],
    ['a group without a name', { groups: [{ count: 1, notRequester: true }] }],
    ['a number that is a text', { groups: [{ group: 'finance', count: '1', notRequester: true }] }],
    ['an exclusion that is a text', { groups: [{ group: 'finance', count: 1, notRequester: 'true' }] }],
    ['a text instead of a rule', { groups: ['finance'] }],
    ['two deadlines at once', { expiresAt: at('10:30:00') }],
    ['no time to execute', { executionWindowMs: 0 }],
  ])('that asks %s is never recorded', (_, more) => {
    expect(() => decideApproval(null, { kind: 'ask', question: question(more) })).toThrow();
  });
});
