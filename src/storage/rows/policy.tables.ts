/** Rows of policy sets, of proposals to put one in force, and of the shadow. Part of `Tables`. */
export interface PolicyTables {
  /** A set as decisions were made with it. Immutable; one row for each revision, however often it comes back. */
  policy_sets: {
    revision: string;
    schema_digest: string;
    engine_version: string;
    /** JSON: string[], in order. */
    policy_ids: string;
    /** JSON: what the set is made from (`PolicyCandidate`). */
    content: string;
    first_seen: string;
  };
  /** A set that one operator proposes and another one decides; follows the `policy.activation_*` events. */
  policy_activations: {
    activation_id: string;
    revision: string;
    /** The set in force when it was proposed. */
    based_on: string | null;
    /** The `sub` of whoever proposed it: nobody decides on their own proposal. */
    author: string;
    reason: string;
    /** Digest of the report of the check: what the proposal was made on. */
    report_digest: string;
    state: 'proposed' | 'activated' | 'denied' | 'expired';
    decide_by: string;
    proposed_event_id: string;
    decided_by: string | null;
    decided_event_id: string | null;
    created_at: string;
    updated_at: string;
  };
  /** The set that is asked beside the one in force; one at most. */
  policy_shadow: { scope: string; revision: string; set_by: string; event_id: string; set_at: string };
  /** How often a shadow answered what, agreement included. Operational: a crash may lose the last second. */
  policy_shadow_flips: { revision: string; from_outcome: string; to_outcome: string; count: number; last_at: string };
  /** The newest differences, in a ring of slots. Operational, and without values of arguments. */
  policy_shadow_differences: {
    slot: number;
    sequence: number;
    revision: string;
    tenant: string;
    tool_call_id: string;
    policy_decision_id: string;
    capability: string;
    phase: string;
    from_outcome: string;
    /** JSON: string[]. */
    from_determining: string;
    to_outcome: string;
    /** JSON: string[]. */
    to_determining: string;
    decided_at: string;
  };
}
