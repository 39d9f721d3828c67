import type { ErrorCode } from '../errors/error-codes.js';
import type { PerItem } from '../events/edges.js';
import type { PlanReviewCommandKind } from './plan-review.commands.js';
import { PLAN_REVIEW_STATUSES, type PlanReviewStatus } from './plan-review.state.js';

/** What becomes of a review, by what each command may lead to; the spec proves that code and tables agree in every cell. */
export const PLAN_REVIEW_NEXT = {
  require: 'pending',
  approve: 'approved',
  reject: 'rejected',
  expire: 'expired',
  invalidate: 'invalidated',
  end_run: 'closed',
} as const satisfies Readonly<Record<string, PlanReviewStatus>>;

/** The order of the columns below. */
export const PLAN_REVIEW_SITUATIONS = ['none', ...PLAN_REVIEW_STATUSES] as const;

const yes = 'allowed';
const dup = 'duplicate_id';
const abs = 'plan_review_not_found';
const dec = 'approval_already_decided';
const exp = 'approval_expired';
const npd = 'approval_not_pending';
const nap = 'approver_not_allowed';
const dig = 'action_digest_mismatch';
const old = 'version_stale';

type Row = PerItem<typeof PLAN_REVIEW_SITUATIONS, 'allowed' | ErrorCode>;

/** Columns: none · pending · approved rejected expired invalidated closed. */
// prettier-ignore
export const PLAN_REVIEW_ANSWERS = {
  require: {
    any:                 [yes,  dup,  dup, dup, dup, dup, dup],
  },
  decide: {
    approve:             [abs,  yes,  yes, dec, exp, npd, npd],
    reject:              [abs,  yes,  dec, yes, exp, npd, npd],
    approve_by_another:  [abs,  yes,  dec, dec, exp, npd, npd],
    too_late:            [abs,  exp,  dec, dec, exp, npd, npd],
    by_an_agent:         [abs,  nap,  nap, nap, nap, nap, nap],
    by_an_outsider:      [abs,  nap,  dec, dec, exp, npd, npd],
    by_the_requester:    [abs,  nap,  dec, dec, exp, npd, npd],
    on_another_digest:   [abs,  dig,  dec, dec, exp, npd, npd],
  },
  expire: {
    at_the_deadline:     [abs,  yes,  dec, dec, exp, npd, npd],
    too_early:           [abs,  old,  dec, dec, exp, npd, npd],
  },
  invalidate: {
    any:                 [abs,  yes,  dec, dec, exp, npd, npd],
  },
  end_run: {
    any:                 [abs,  yes,  dec, dec, exp, npd, npd],
  },
} as const satisfies Readonly<Record<PlanReviewCommandKind, Readonly<Record<string, Row>>>>;
