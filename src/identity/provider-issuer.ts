import type { IdentityProviderSettings, Settings } from '../config/settings.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { isAllowEntryValid } from '../egress/address-policy.js';
import type { HttpClient } from '../egress/http-client.js';
import type { Clock } from '../system/clock.js';
import { readClaims, type Claims } from './claims.js';
import { ACCESS_TYPES, type TrustedIssuer } from './issuer.js';
import { claimsOfProvider } from './provider-claims.js';
import { RemoteKeys } from './remote-keys.js';

export interface ProviderSurroundings {
  readonly http: Pick<HttpClient, 'send'>;
  readonly clock: Clock;
  readonly onNewKeys: () => void;
}

/** One OpenID Connect provider of the settings. Throws `invalid_settings`. */
export function providerIssuer(
  provider: IdentityProviderSettings,
  settings: Settings['identity'],
  { http, clock, onNewKeys }: ProviderSurroundings,
): TrustedIssuer {
  const wrong = provider.allowAddresses.find((entry) => !isAllowEntryValid(entry));
  if (wrong !== undefined) {
    const problem = `identity.providers: ${wrong} of ${provider.name} is neither a class nor a range of addresses`;
    throw new CountersignError('invalid_settings', `settings are not usable:\n  ${problem}`, { problems: [problem] });
  }
  const { issuer, audience, algorithms, tokens, cacheMaxAgeMs } = provider;
  return {
    issuer,
    audience,
    algorithms,
    keys: new RemoteKeys(provider, http, clock, onNewKeys).get,
    believedForMs: cacheMaxAgeMs,
    accepts: tokens === 'access' ? isAccessToken : isIdToken,
    read: (claims, nowMs) => {
      const ours = claimsOfProvider(claims, provider);
      if (ours === null) return { ok: false, problem: 'groups and roles must be lists of names' };
      return readClaims(ours, settings, nowMs);
    },
  };
}

/** An ID token says to a client who has signed in; it is no permission to call us, whatever its type says (RFC 9068 section 4). */
function isAccessToken(type: string | null, claims: Claims): boolean {
  return (
    type !== null && ACCESS_TYPES.includes(type) && claims['nonce'] === undefined && claims['at_hash'] === undefined
  );
}

const isIdToken = (type: string | null): boolean => type === null || type === 'jwt';
