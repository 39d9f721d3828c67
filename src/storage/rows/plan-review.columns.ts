/** Part of `TABLE_COLUMNS`. */
export const PLAN_REVIEW_COLUMNS = {
  plan_reviews: {
    plan_review_id: 'text',
    tenant: 'text',
    principal: 'text',
    run_id: 'text',
    session_id: 'text',
    status: 'text',
    plan_digest: 'text',
    requesters: 'text',
    decide_by: 'text',
    decided_by: 'text?',
    version: 'integer',
    required_event_id: 'text',
    last_event_id: 'text',
    created_at: 'text',
    updated_at: 'text',
  },
} as const;

/** Part of `TABLE_KEYS`. */
export const PLAN_REVIEW_KEYS = { plan_reviews: ['plan_review_id'] } as const;
