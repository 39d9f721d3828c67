/** Counts, for the whole installation, the evidence that is kept although no call is known for it. */
export const UNMATCHED_COUNTER = 'late_results/unmatched';
