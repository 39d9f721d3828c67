/** Columns of secrets and of revoked tokens. Part of `TABLE_COLUMNS`. */
export const SECRET_COLUMNS = {
  secrets: {
    tenant: 'text',
    name: 'text',
    version: 'integer',
    wrapped: 'text?',
    kek_id: 'text?',
    sealed: 'text?',
    created_at: 'text',
    retired_at: 'text?',
  },
  revoked_tokens: {
    revocation_id: 'text',
    jti: 'text?',
    tenant: 'text?',
    sub: 'text?',
    issued_before: 'text?',
    until: 'text',
    reason: 'text?',
    revoked_at: 'text',
  },
} as const;

/** Primary keys of the same tables. */
export const SECRET_KEYS = {
  secrets: ['tenant', 'name', 'version'],
  revoked_tokens: ['revocation_id'],
} as const;
