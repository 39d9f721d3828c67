/** Columns of policy sets, activations and the shadow. Part of `TABLE_COLUMNS`. */
export const POLICY_COLUMNS = {
  policy_sets: {
    revision: 'text',
    schema_digest: 'text',
    engine_version: 'text',
    policy_ids: 'text',
    content: 'text',
    first_seen: 'text',
  },
  policy_activations: {
    activation_id: 'text',
    revision: 'text',
    based_on: 'text?',
    author: 'text',
    reason: 'text',
    report_digest: 'text',
    state: 'text',
    decide_by: 'text',
    proposed_event_id: 'text',
    decided_by: 'text?',
    decided_event_id: 'text?',
    created_at: 'text',
    updated_at: 'text',
  },
  policy_shadow: { scope: 'text', revision: 'text', set_by: 'text', event_id: 'text', set_at: 'text' },
  policy_shadow_flips: {
    revision: 'text',
    from_outcome: 'text',
    to_outcome: 'text',
    count: 'integer',
    last_at: 'text',
  },
  policy_shadow_differences: {
    slot: 'integer',
    sequence: 'integer',
    revision: 'text',
    tenant: 'text',
    tool_call_id: 'text',
    policy_decision_id: 'text',
    capability: 'text',
    phase: 'text',
    from_outcome: 'text',
    from_determining: 'text',
    to_outcome: 'text',
    to_determining: 'text',
    decided_at: 'text',
  },
} as const;

/** Primary keys of the same tables. */
export const POLICY_KEYS = {
  policy_sets: ['revision'],
  policy_activations: ['activation_id'],
  policy_shadow: ['scope'],
  policy_shadow_flips: ['revision', 'from_outcome', 'to_outcome'],
  policy_shadow_differences: ['slot'],
} as const;

/** Those of them that a unit may replace whole. */
export const POLICY_REPLACEABLE = ['policy_shadow', 'policy_shadow_flips', 'policy_shadow_differences'] as const;

/** Those of them that a unit may delete from. */
export const POLICY_DELETABLE = ['policy_shadow'] as const;
