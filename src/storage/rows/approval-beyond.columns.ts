export const APPROVAL_BEYOND_COLUMNS = {
  batch_id: 'text?',
  delegations: 'text',
  escalations: 'text',
  escalate_at: 'text?',
  break_glass_by: 'text?',
  reviewed_by: 'text?',
  review_finding: 'text?',
  review_owed: 'integer',
} as const;

const LIFETIME = {
  until: 'text',
  status: 'text',
  revoked_by: 'text?',
  version: 'integer',
  created_event_id: 'text',
  last_event_id: 'text',
  created_at: 'text',
  updated_at: 'text',
} as const;

/** Part of `TABLE_COLUMNS`. */
export const STANDING_COLUMNS = {
  grants: {
    grant_id: 'text',
    tenant: 'text',
    granted_by: 'text',
    approver_group: 'text',
    capability: 'text',
    principal_sub: 'text?',
    principal_act: 'text?',
    ...LIFETIME,
  },
  delegations: {
    delegation_id: 'text',
    tenant: 'text',
    lent_by: 'text',
    lent_to: 'text',
    groups: 'text',
    ...LIFETIME,
  },
  refused_intents: { tenant: 'text', intent_digest: 'text', tool_call_id: 'text', refused_at: 'text' },
} as const;

/** Part of `TABLE_KEYS`. */
export const STANDING_KEYS = {
  grants: ['grant_id'],
  delegations: ['delegation_id'],
  refused_intents: ['tenant', 'intent_digest'],
} as const;
