export const PLAN_REVIEW_STATUSES = ['pending', 'approved', 'rejected', 'expired', 'invalidated', 'closed'] as const;
export type PlanReviewStatus = (typeof PLAN_REVIEW_STATUSES)[number];

/** A plan that people are shown (state-machines §3): an approval whose subject is the digest of a plan. */
export interface PlanReviewState {
  readonly planReviewId: string;
  readonly status: PlanReviewStatus;
  /** `sha256:…` over the plan as it was sent. */
  readonly planDigest: string;
  /** Nobody of these may decide. */
  readonly requesterSubjects: readonly string[];
  /** ISO 8601: nobody may decide at or after this time. */
  readonly decideBy: string;
  /** Null while nobody has, and where nobody did. */
  readonly decidedBy: string | null;
}
