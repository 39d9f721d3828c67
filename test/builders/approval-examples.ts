import type { ApprovalCommand, ApprovalCommandKind, Voter } from '../../src/domain/approval/approval.commands.js';
import { foldApproval } from '../../src/domain/approval/approval.evolve.js';
import type { ApprovalState, ApprovalStatus, Vote } from '../../src/domain/approval/approval.state.js';
import type { APPROVAL_ANSWERS } from '../../src/domain/approval/approval.transitions.js';
import type { DomainEvent, EventPayload } from '../../src/domain/events/catalogue.js';
import { rowsOf, type Trial, type TrialRow } from './machine-table.js';

/** One question about a refund, to two people of finance other than the requester. Every time is on one day. */

export const at = (clock: string): string => `2031-01-01T${clock}.000Z`;

export const question = (more: Partial<EventPayload<'approval.required'>> = {}): EventPayload<'approval.required'> => ({
  risk: 'high',
  expiresAt: at('11:00:00'),
  decideBy: at('11:00:00'),
  executionWindowMs: 900_000,
  executeByLatest: at('18:00:00'),
  attempt: 1,
  capability: 'refund.create',
  capabilityVersion: '1.0.0',
  manifestDigest: 'sha256:manifest',
  argsDigest: 'sha256:args',
  consentDigest: 'sha256:consent',
  shown: { amountMinor: 500 },
  shownDigest: 'sha256:shown',
  groups: [{ group: 'finance', count: 2, notRequester: true }],
  requesterSubjects: ['alice', 'agent-7'],
  reasons: ['amount'],
  policyRevision: 'sha256:policy',
  ...more,
});

export const person = (sub: string, ...groups: string[]): Voter => ({ sub, groups, isAgent: false });
export const FAY = person('fay', 'finance');
export const FRED = person('fred', 'finance');

export const voteCommand = (
  voter: Voter,
  decision: 'allow' | 'deny',
  more: Partial<Extract<ApprovalCommand, { kind: 'vote' }>> = {},
): ApprovalCommand => ({
  kind: 'vote',
  voter,
  decision,
  consentDigest: 'sha256:consent',
  reason: null,
  now: at('10:00:00'),
  ...more,
});

export const EVA = person('eva', 'incident');

export const delegateCommand = (
  voter: Voter,
  more: Partial<Extract<ApprovalCommand, { kind: 'delegate' }>> = {},
): ApprovalCommand => ({
  kind: 'delegate',
  voter,
  to: 'dora',
  until: null,
  groups: null,
  reason: 'away today',
  now: at('10:00:00'),
  ...more,
});

export const revokeDelegationCommand = (voter: Voter, now: string = at('10:00:00')): ApprovalCommand => ({
  kind: 'revoke_delegation',
  voter,
  to: 'dora',
  reason: 'back again',
  now,
});

export const escalateCommand = (voter: Voter, now: string = at('10:00:00'), isForAll = true): ApprovalCommand => ({
  kind: 'escalate',
  voter,
  to: 'board',
  isForAll,
  reason: 'beyond us',
  now,
});

export const breakGlassCommand = (
  voter: Voter,
  more: Partial<Extract<ApprovalCommand, { kind: 'break_glass' }>> = {},
): ApprovalCommand => ({
  kind: 'break_glass',
  voter,
  mayBreakGlass: true,
  consentDigest: 'sha256:consent',
  reason: 'the plant is on fire',
  now: at('10:00:00'),
  ...more,
});

export const reviewCommand = (voter: Voter): ApprovalCommand => ({
  kind: 'review',
  voter,
  finding: 'justified',
  reason: 'it was',
  now: at('12:00:00'),
});

export const editCommand = (
  voter: Voter,
  more: Partial<Extract<ApprovalCommand, { kind: 'edit' }>> = {},
): ApprovalCommand => ({
  kind: 'edit',
  voter,
  consentDigest: 'sha256:consent',
  reason: 'half of it',
  newToolCallId: 'call_2',
  now: at('10:00:00'),
  ...more,
});

/** The state after the question; every example is folded from its events. */
export const asked = (more: Partial<EventPayload<'approval.required'>> = {}): ApprovalState => {
  const state = foldApproval(null, [{ type: 'approval.required', payload: question(more) }]);
  if (state === null) throw new Error('a question makes a state');
  return state;
};

const recorded = (sub: string, decision: 'allow' | 'deny'): DomainEvent => ({
  type: 'approval.vote_recorded',
  payload: { by: { sub }, decision, groups: ['finance'], consentDigest: 'sha256:consent' },
});

const REQUIRED: readonly DomainEvent[] = [{ type: 'approval.required', payload: question() }];
const GRANTED: readonly DomainEvent[] = [
  ...REQUIRED,
  recorded('una', 'allow'),
  recorded('ugo', 'allow'),
  {
    type: 'approval.granted',
    payload: { decidedBy: ['una', 'ugo'], decidedAt: at('10:00:00'), executeBy: at('10:15:00') },
  },
];

export const APPROVAL_HISTORIES: Readonly<Record<ApprovalStatus, readonly DomainEvent[]>> = {
  pending: REQUIRED,
  granted: GRANTED,
  consumed: [...GRANTED, { type: 'approval.consumed', payload: { attempt: 1, nonce: 'nonce-1' } }],
  denied: [
    ...REQUIRED,
    recorded('una', 'deny'),
    { type: 'approval.denied', payload: { decidedBy: ['una'], decidedAt: at('10:00:00') } },
  ],
  expired: [
    ...REQUIRED,
    {
      type: 'approval.expired',
      payload: { clock: 'decide', deadline: at('11:00:00'), noticedAt: at('11:00:01') },
    },
  ],
  invalidated: [...GRANTED, { type: 'approval.invalidated', payload: { reason: 'policy_changed' } }],
  closed: [...REQUIRED, { type: 'approval.closed', payload: { reason: 'stopped' } }],
};

export function approvalIn(status: ApprovalStatus): ApprovalState {
  const state = foldApproval(null, APPROVAL_HISTORIES[status]);
  if (state === null) throw new Error(`no history for ${status}`);
  return state;
}

const withVotes =
  (...votes: Vote[]) =>
  (state: ApprovalState): ApprovalState => ({ ...state, votes: [...state.votes, ...votes] });
const voteOf = (sub: string, decision: 'allow' | 'deny'): Vote => ({ sub, decision, groups: ['finance'] });

const lentToDora = (state: ApprovalState): ApprovalState => ({
  ...state,
  delegations: [{ from: 'fay', to: 'dora', until: at('11:00:00'), groups: ['finance'] }],
});
const widenedToBoard = (state: ApprovalState): ApprovalState => ({
  ...state,
  escalations: [{ group: 'finance', to: 'board' }],
});
const toBeWidened = (state: ApprovalState): ApprovalState => ({
  ...state,
  rules: state.rules.map((rule) => ({ ...rule, escalation: { group: 'board', at: at('10:30:00') } })),
});
const brokenBy =
  (by: string) =>
  (state: ApprovalState): ApprovalState => ({ ...state, breakGlass: { by } });

type ApprovalTrial = Trial<ApprovalState, ApprovalCommand>;
const always = (command: ApprovalCommand, given?: ApprovalTrial['given']): ApprovalTrial =>
  given === undefined ? { command: () => command } : { command: () => command, given };
const withdraw = (voter: Voter, now: string): ApprovalCommand => ({ kind: 'withdraw_vote', voter, reason: null, now });
const consume = (attempt: number, now: string): ApprovalCommand => ({
  kind: 'consume',
  consumption: { attempt, nonce: 'nonce-1' },
  now,
});

type Trials = {
  readonly [K in ApprovalCommandKind]: { readonly [V in keyof (typeof APPROVAL_ANSWERS)[K]]: ApprovalTrial };
};

/** A command for every row of the table. */
const TRIALS: Trials = {
  ask: { any: always({ kind: 'ask', question: question() }) },
  vote: {
    allow_of_two: always(voteCommand(FAY, 'allow')),
    allow_that_grants: always(voteCommand(FAY, 'allow'), withVotes(voteOf('fred', 'allow'))),
    deny: always(voteCommand(FAY, 'deny')),
    too_late: always(voteCommand(FAY, 'allow', { now: at('11:00:00') })),
    by_an_agent: always(voteCommand({ ...FAY, isAgent: true }, 'allow')),
    by_an_outsider: always(voteCommand(person('otto', 'sales'), 'allow')),
    by_the_requester: always(voteCommand(person('alice', 'finance'), 'allow')),
    on_another_digest: always(voteCommand(FAY, 'allow', { consentDigest: 'sha256:other' })),
    same_word_again: always(voteCommand(FAY, 'allow'), withVotes(voteOf('fay', 'allow'))),
    another_word: always(voteCommand(FAY, 'deny'), withVotes(voteOf('fay', 'allow'))),
  },
  withdraw_vote: {
    own: always(withdraw(FAY, at('10:01:00')), withVotes(voteOf('fay', 'allow'))),
    too_late: always(withdraw(FAY, at('11:00:00')), withVotes(voteOf('fay', 'allow'))),
    by_an_agent: always(withdraw({ ...FAY, isAgent: true }, at('10:01:00')), withVotes(voteOf('fay', 'allow'))),
    without_a_vote: always(withdraw(FRED, at('10:01:00'))),
  },
  delegate: {
    own_right: always(delegateCommand(FAY)),
    too_late: always(delegateCommand(FAY, { now: at('11:00:00') })),
    by_an_agent: always(delegateCommand({ ...FAY, isAgent: true })),
    by_an_outsider: always(delegateCommand(person('otto', 'sales'))),
    of_another_group: always(delegateCommand(FAY, { groups: ['finance', 'legal'] })),
    to_the_requester: always(delegateCommand(FAY, { to: 'alice' })),
    to_themselves: always(delegateCommand(FAY, { to: 'fay' })),
    after_their_vote: always(delegateCommand(FAY), withVotes(voteOf('fay', 'allow'))),
    until_a_past_time: always(delegateCommand(FAY, { until: at('09:00:00') })),
    of_a_lent_right: always(delegateCommand(person('dora')), lentToDora),
  },
  revoke_delegation: {
    own: always(revokeDelegationCommand(FAY), lentToDora),
    of_another: always(revokeDelegationCommand(FRED), lentToDora),
    of_nothing: always(revokeDelegationCommand(FAY)),
    too_late: always(revokeDelegationCommand(FAY, at('11:00:00')), lentToDora),
    by_an_agent: always(revokeDelegationCommand({ ...FAY, isAgent: true }), lentToDora),
  },
  escalate: {
    by_an_approver: always(escalateCommand(FAY)),
    again: always(escalateCommand(FAY), widenedToBoard),
    too_late: always(escalateCommand(FAY, at('11:00:00'))),
    by_an_agent: always(escalateCommand({ ...FAY, isAgent: true })),
    by_an_outsider: always(escalateCommand(person('otto', 'sales'))),
    where_the_policy_does: always(escalateCommand(FAY, at('10:00:00'), false), toBeWidened),
    to_a_group_nobody_named: always(escalateCommand(FAY, at('10:00:00'), false)),
  },
  escalate_due: {
    due: always({ kind: 'escalate_due', now: at('10:30:00') }, toBeWidened),
    too_early: always({ kind: 'escalate_due', now: at('10:29:59') }, toBeWidened),
    done_before: always({ kind: 'escalate_due', now: at('10:30:00') }, (state) => widenedToBoard(toBeWidened(state))),
  },
  break_glass: {
    by_one_who_may: always(breakGlassCommand(EVA)),
    by_one_who_may_not: always(breakGlassCommand(EVA, { mayBreakGlass: false })),
    by_an_agent: always(breakGlassCommand({ ...EVA, isAgent: true })),
    by_the_requester: always(breakGlassCommand(person('alice'))),
    on_another_digest: always(breakGlassCommand(EVA, { consentDigest: 'sha256:other' })),
    too_late: always(breakGlassCommand(EVA, { now: at('11:00:00') })),
  },
  review: {
    where_it_is_owed: always(reviewCommand(FAY), brokenBy('eva')),
    where_none_is_owed: always(reviewCommand(FAY)),
    where_it_was_made: always(reviewCommand(FAY), (state) => ({
      ...brokenBy('eva')(state),
      review: { by: 'fred', finding: 'justified' },
    })),
    by_an_agent: always(reviewCommand({ ...FAY, isAgent: true }), brokenBy('eva')),
    by_the_one_who_broke_it: always(reviewCommand(EVA), brokenBy('eva')),
    by_the_requester: always(reviewCommand(person('alice')), brokenBy('eva')),
  },
  edit: {
    by_an_approver: always(editCommand(FAY)),
    by_an_agent: always(editCommand({ ...FAY, isAgent: true })),
    by_an_outsider: always(editCommand(person('otto', 'sales'))),
    on_another_digest: always(editCommand(FAY, { consentDigest: 'sha256:other' })),
    too_late: always(editCommand(FAY, { now: at('11:00:00') })),
  },
  expire: {
    at_the_deadline: {
      command: (state) => ({ kind: 'expire', now: state?.status === 'granted' ? state.executeBy : at('11:00:00') }),
    },
    too_early: always({ kind: 'expire', now: at('10:14:59') }),
  },
  invalidate: { any: always({ kind: 'invalidate', invalidation: { reason: 'policy_changed' } }) },
  consume: {
    in_time: always(consume(1, at('10:14:59'))),
    too_late: always(consume(1, at('10:15:00'))),
    for_another_attempt: always(consume(2, at('10:10:00'))),
  },
  close: { any: always({ kind: 'close', closing: { reason: 'stopped' } }) },
};

export const APPROVAL_ROWS: readonly TrialRow<ApprovalState, ApprovalCommand>[] = rowsOf(TRIALS);
