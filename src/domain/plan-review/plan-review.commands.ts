import type { Voter } from '../approval/approval.commands.js';
import type { EventPayload } from '../events/catalogue.js';

export type PlanReviewCommand =
  | { readonly kind: 'require'; readonly question: EventPayload<'plan_review.required'> }
  | {
      readonly kind: 'decide';
      /** With those of their groups alone that the installation asks. */
      readonly voter: Voter;
      readonly decision: 'approved' | 'rejected';
      readonly planDigest: string;
      readonly reason: string | null;
      /** ISO 8601. */
      readonly now: string;
    }
  | { readonly kind: 'expire'; readonly now: string }
  /** The harness has another plan. */
  | { readonly kind: 'invalidate' }
  | { readonly kind: 'end_run' };

export type PlanReviewCommandKind = PlanReviewCommand['kind'];
export type PlanReviewCommandOf<K extends PlanReviewCommandKind> = Extract<PlanReviewCommand, { readonly kind: K }>;
