import type { PutSecretBody, RetireSecretBody } from '../../client/contract/secrets.js';
import type { RevokeTokenBody } from '../../client/contract/tokens.js';

const putSecret: PutSecretBody = { value: 'the-value-that-the-tool-knows' };
const retireSecret: RetireSecretBody = { version: 1 };
const revokeToken: RevokeTokenBody[] = [
  { jti: 'Zp3x0w8J2c', reason: 'It was in a log.' },
  { tenant: 'acme', sub: 'support-agent', reason: 'The laptop is lost.' },
];

/** Examples of what is sent about secrets and tokens, by the id of the schema they show. */
export const SECRET_EXAMPLES: Readonly<Record<string, readonly unknown[]>> = {
  PutSecret: [putSecret],
  RetireSecret: [retireSecret],
  RevokeToken: revokeToken,
};
