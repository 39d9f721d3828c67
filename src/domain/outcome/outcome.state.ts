/**
 * What the world shows of a call. `not_observed` is the time before the first event: there is no state then. The
 * execution of the call has a machine of its own; the two share no status and neither moves the other.
 */
export const OUTCOME_STATUSES = ['pending', 'confirmed_success', 'confirmed_failure', 'inconclusive'] as const;
export type OutcomeStatus = (typeof OUTCOME_STATUSES)[number];

/** Evidence of a kind that the criteria need, and the feedback that brought it. */
export interface SeenEvidence {
  readonly kind: string;
  readonly feedbackId: string;
}

/** What every status has. */
export interface OutcomeVerification {
  readonly criteriaId: string;
  readonly criteriaVersion: string;
  /** Kinds of evidence that must all be there for a success. */
  readonly needs: readonly string[];
  /** How long a verification may take, each time it is taken up. */
  readonly withinMs: number;
  /** The attempt of the call that is verified. */
  readonly attempt: number;
  /** ISO 8601: at or after this time a pending verification is inconclusive. */
  readonly deadline: string;
  /** What speaks for a success so far. */
  readonly seen: readonly SeenEvidence[];
}

/** An outcome: a union on `status`. */
export type OutcomeState = OutcomeVerification &
  (
    | { readonly status: 'pending' }
    | { readonly status: 'confirmed_success' }
    | { readonly status: 'confirmed_failure'; readonly basis: 'source' | 'operator' | 'not_executed' }
    | { readonly status: 'inconclusive'; readonly reason: 'deadline_passed' | 'evidence_insufficient' }
  );
