import type { ErrorCode } from '../errors/error-codes.js';
import type { EventTypeIn } from '../events/catalogue.js';
import { stay, to, type Edges, type PerItem } from '../events/edges.js';
import type { ApprovalCommandKind } from './approval.commands.js';
import { APPROVAL_STATUSES, type ApprovalStatus } from './approval.state.js';

/**
 * The machine of state-machines §3 as data, complete. `decide` and `evolve` do not read these tables; the spec proves
 * that they agree with them in every cell.
 */

/** (status, event type) → the next status. */
export const APPROVAL_EDGES: Readonly<Record<EventTypeIn<'approval'>, Edges<ApprovalStatus>>> = {
  'approval.required': to('pending', 'none'),
  'approval.vote_recorded': stay('pending'),
  'approval.vote_withdrawn': stay('pending', 'granted'),
  'approval.delegated': stay('pending'),
  'approval.delegation_revoked': stay('pending'),
  'approval.escalated': stay('pending'),
  'approval.break_glass_used': stay('pending'),
  'approval.review_recorded': stay('granted', 'consumed', 'expired', 'invalidated', 'closed'),
  'approval.edited': stay('pending'),
  'approval.granted': to('granted', 'pending'),
  'approval.denied': to('denied', 'pending'),
  'approval.expired': to('expired', 'pending', 'granted'),
  'approval.invalidated': to('invalidated', 'pending', 'granted'),
  'approval.consumed': to('consumed', 'granted'),
  'approval.closed': to('closed', 'pending', 'granted'),
};

/** The order of the columns below. */
export const APPROVAL_SITUATIONS = ['none', ...APPROVAL_STATUSES] as const;

const yes = 'allowed';
const dup = 'duplicate_id';
const abs = 'approval_not_found';
const dec = 'approval_already_decided';
const con = 'approval_already_consumed';
const npd = 'approval_not_pending';
const exp = 'approval_expired';
const nap = 'approver_not_allowed';
const dig = 'action_digest_mismatch';
const mis = 'approval_missing';
const old = 'version_stale';
const del = 'delegate_not_allowed';
const tim = 'invalid_timestamp';
const own = 'review_not_owed';

type Row = PerItem<typeof APPROVAL_SITUATIONS, 'allowed' | ErrorCode>;

/**
 * (command, status) → allowed, or the code of the refusal; a row per kind of content. Columns: none · pending granted ·
 * consumed denied expired invalidated closed.
 */
// prettier-ignore
export const APPROVAL_ANSWERS = {
  ask: {
    any:                     [yes,  dup, dup,  dup, dup, dup, dup, dup],
  },
  vote: {
    allow_of_two:            [abs,  yes, dec,  dec, dec, exp, npd, npd],
    allow_that_grants:       [abs,  yes, dec,  dec, dec, exp, npd, npd],
    deny:                    [abs,  yes, dec,  dec, dec, exp, npd, npd],
    too_late:                [abs,  exp, dec,  dec, dec, exp, npd, npd],
    by_an_agent:             [abs,  nap, nap,  nap, nap, nap, nap, nap],
    by_an_outsider:          [abs,  nap, dec,  dec, dec, exp, npd, npd],
    by_the_requester:        [abs,  nap, dec,  dec, dec, exp, npd, npd],
    on_another_digest:       [abs,  dig, dec,  dec, dec, exp, npd, npd],
    same_word_again:         [abs,  yes, yes,  yes, yes, yes, yes, yes],
    another_word:            [abs,  dec, dec,  dec, dec, dec, dec, dec],
  },
  withdraw_vote: {
    own:                     [abs,  yes, yes,  con, dec, exp, npd, npd],
    too_late:                [abs,  exp, exp,  con, dec, exp, npd, npd],
    by_an_agent:             [abs,  nap, nap,  nap, nap, nap, nap, nap],
    without_a_vote:          [abs,  nap, nap,  con, dec, exp, npd, npd],
  },
  delegate: {
    own_right:               [abs,  yes, dec,  dec, dec, exp, npd, npd],
    too_late:                [abs,  exp, dec,  dec, dec, exp, npd, npd],
    by_an_agent:             [abs,  nap, nap,  nap, nap, nap, nap, nap],
    by_an_outsider:          [abs,  nap, dec,  dec, dec, exp, npd, npd],
    of_another_group:        [abs,  nap, dec,  dec, dec, exp, npd, npd],
    to_the_requester:        [abs,  del, dec,  dec, dec, exp, npd, npd],
    to_themselves:           [abs,  del, dec,  dec, dec, exp, npd, npd],
    after_their_vote:        [abs,  dec, dec,  dec, dec, exp, npd, npd],
    until_a_past_time:       [abs,  tim, dec,  dec, dec, exp, npd, npd],
    of_a_lent_right:         [abs,  nap, dec,  dec, dec, exp, npd, npd],
  },
  revoke_delegation: {
    own:                     [abs,  yes, dec,  dec, dec, exp, npd, npd],
    of_another:              [abs,  nap, dec,  dec, dec, exp, npd, npd],
    of_nothing:              [abs,  nap, dec,  dec, dec, exp, npd, npd],
    too_late:                [abs,  exp, dec,  dec, dec, exp, npd, npd],
    by_an_agent:             [abs,  nap, nap,  nap, nap, nap, nap, nap],
  },
  escalate: {
    by_an_approver:          [abs,  yes, dec,  dec, dec, exp, npd, npd],
    again:                   [abs,  yes, dec,  dec, dec, exp, npd, npd],
    too_late:                [abs,  exp, dec,  dec, dec, exp, npd, npd],
    by_an_agent:             [abs,  nap, nap,  nap, nap, nap, nap, nap],
    by_an_outsider:          [abs,  nap, dec,  dec, dec, exp, npd, npd],
    where_the_policy_does:   [abs,  yes, dec,  dec, dec, exp, npd, npd],
    to_a_group_nobody_named: [abs,  nap, dec,  dec, dec, exp, npd, npd],
  },
  escalate_due: {
    due:                     [abs,  yes, dec,  con, dec, exp, npd, npd],
    too_early:               [abs,  old, dec,  con, dec, exp, npd, npd],
    done_before:             [abs,  old, dec,  con, dec, exp, npd, npd],
  },
  break_glass: {
    by_one_who_may:          [abs,  yes, dec,  dec, dec, exp, npd, npd],
    by_one_who_may_not:      [abs,  nap, dec,  dec, dec, exp, npd, npd],
    by_an_agent:             [abs,  nap, nap,  nap, nap, nap, nap, nap],
    by_the_requester:        [abs,  nap, dec,  dec, dec, exp, npd, npd],
    on_another_digest:       [abs,  dig, dec,  dec, dec, exp, npd, npd],
    too_late:                [abs,  exp, dec,  dec, dec, exp, npd, npd],
  },
  review: {
    where_it_is_owed:        [abs,  own, yes,  yes, own, yes, yes, yes],
    where_none_is_owed:      [abs,  own, own,  own, own, own, own, own],
    where_it_was_made:       [abs,  own, own,  own, own, own, own, own],
    by_an_agent:             [abs,  nap, nap,  nap, nap, nap, nap, nap],
    by_the_one_who_broke_it: [abs,  own, nap,  nap, own, nap, nap, nap],
    by_the_requester:        [abs,  own, nap,  nap, own, nap, nap, nap],
  },
  edit: {
    by_an_approver:          [abs,  yes, dec,  dec, dec, exp, npd, npd],
    by_an_agent:             [abs,  nap, nap,  nap, nap, nap, nap, nap],
    by_an_outsider:          [abs,  nap, dec,  dec, dec, exp, npd, npd],
    on_another_digest:       [abs,  dig, dec,  dec, dec, exp, npd, npd],
    too_late:                [abs,  exp, dec,  dec, dec, exp, npd, npd],
  },
  expire: {
    at_the_deadline:         [abs,  yes, yes,  con, dec, exp, npd, npd],
    too_early:               [abs,  old, old,  con, dec, exp, npd, npd],
  },
  invalidate: {
    any:                     [abs,  yes, yes,  con, dec, exp, npd, npd],
  },
  consume: {
    in_time:                 [abs,  mis, yes,  con, dec, exp, npd, npd],
    too_late:                [abs,  mis, exp,  con, dec, exp, npd, npd],
    for_another_attempt:     [abs,  mis, mis,  con, dec, exp, npd, npd],
  },
  close: {
    any:                     [abs,  yes, yes,  con, dec, exp, npd, npd],
  },
} as const satisfies Readonly<Record<ApprovalCommandKind, Readonly<Record<string, Row>>>>;
