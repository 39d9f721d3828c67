import { define } from './event-definition.js';

/** What happens to secrets, to the keys they lie under and to tokens; never a value of any of them. Part of the catalogue. */
export const SECRET_EVENTS = {
  'secret.stored': define('ledger', 1, ['control-plane'], { name: 'text', secretVersion: 'integer', kekId: 'text' }),
  /** Its value is gone from the store with this. */
  'secret.retired': define('ledger', 1, ['control-plane'], { name: 'text', secretVersion: 'integer' }),
  /** Nothing is wrapped any more by a key-encryption key but this one. */
  'ledger.key_rotated': define('ledger', 1, ['control-plane'], {
    kekId: 'text',
    previousKekIds: 'list',
    keysRewrapped: 'integer',
  }),
  /** Either one token by its `jti`, or all tokens of a subject of a tenant that were issued before a time. */
  'token.revoked': define('ledger', 1, ['control-plane'], {
    revocationId: 'text',
    jti: 'text?',
    subjectTenant: 'text?',
    sub: 'text?',
    issuedBefore: 'text?',
    /** After it every such token has expired by itself. */
    until: 'text',
    reason: 'text?',
  }),
} as const;
