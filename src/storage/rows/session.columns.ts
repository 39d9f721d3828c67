/** Columns of durable sessions and their checkpoints. Part of `TABLE_COLUMNS`. */
export const SESSION_COLUMNS = {
  sessions: {
    tenant: 'text',
    session_id: 'text',
    principal: 'text',
    status: 'text',
    owner_epoch: 'integer',
    harness_instance_id: 'text?',
    parent: 'text?',
    version: 'integer',
    created_at: 'text',
    updated_at: 'text',
  },
  checkpoints: {
    checkpoint_id: 'text',
    tenant: 'text',
    session_id: 'text',
    run_id: 'text',
    turn_id: 'text?',
    kind: 'text',
    status: 'text',
    verdict: 'text?',
    version: 'integer',
    created_at: 'text',
    updated_at: 'text',
  },
} as const;

/** Primary keys of the same tables. */
export const SESSION_KEYS = {
  sessions: ['tenant', 'session_id'],
  checkpoints: ['checkpoint_id'],
} as const;
