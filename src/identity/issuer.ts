import { readFileSync } from 'node:fs';
import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import type { Settings } from '../config/settings.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { readClaims, type Claims, type ReadClaims } from './claims.js';

/** RFC 9068 access tokens, and plain JWTs of identity providers that do not follow it. A lease token is neither. */
export const ACCESS_TYPES: readonly string[] = ['at+jwt', 'application/at+jwt', 'jwt'];

/** Somebody whose tokens are believed, and how. A token is held against one of them: the one whose issuer it names. */
export interface TrustedIssuer {
  readonly issuer: string;
  readonly audience: string;
  readonly algorithms: readonly string[];
  /** Keys of this issuer alone. Rejects with a CountersignError when they cannot be had. */
  readonly keys: JWTVerifyGetKey;
  /** A verified token is not believed for longer without being verified again. */
  readonly believedForMs: number;
  accepts(type: string | null, claims: Claims): boolean;
  read(claims: Claims, nowMs: number): ReadClaims;
}

/** The issuer of `identity.jwksFile`. Throws `invalid_settings` when its keys cannot be used. */
export function localIssuer(settings: Settings['identity']): TrustedIssuer {
  const { issuer, audience, algorithms, jwksFile, providers } = settings;
  const prefixes = providers.map(prefixOf);
  return {
    issuer,
    audience,
    algorithms,
    keys: readKeySet(jwksFile),
    believedForMs: Number.POSITIVE_INFINITY,
    accepts: (type) => type !== null && ACCESS_TYPES.includes(type),
    read: (claims, nowMs) => {
      const read = readClaims(claims, settings, nowMs);
      if (!read.ok) return read;
      const { actor } = read.caller;
      // An agent may act for a person of a provider; only the provider says who is that person.
      const isTheirs = prefixes.some((prefix) => actor.sub.startsWith(prefix));
      return isTheirs && actor.act === undefined ? { ok: false, problem: 'the subject belongs to a provider' } : read;
    },
  };
}

/** In front of every subject of the provider: nobody of one provider is anybody of another. */
export const prefixOf = ({
  name,
  subjectPrefix,
}: {
  readonly name: string;
  readonly subjectPrefix: string | null;
}): string => subjectPrefix ?? `${name}:`;

function readKeySet(file: string): JWTVerifyGetKey {
  const set = keySetIn(file);
  if (set === null) throw invalidKeys('identity.jwksFile: cannot be read as a JWK set');
  if (set.keys.length === 0) throw invalidKeys('identity.jwksFile: holds no key');
  if (set.keys.some((key) => key.kty === 'oct' || 'd' in key)) {
    throw invalidKeys('identity.jwksFile: holds a symmetric or private key; only public keys belong there');
  }
  return createLocalJWKSet(set);
}

/** Null when the file holds anything but a JSON object whose `keys` are objects. */
function keySetIn(file: string): JSONWebKeySet | null {
  try {
    const set: unknown = JSON.parse(readFileSync(file, 'utf8'));
    const keys: unknown = (set as { keys?: unknown } | null)?.keys;
    const isSet =
      Array.isArray(keys) && keys.every((key) => typeof key === 'object' && key !== null && !Array.isArray(key));
    return isSet ? (set as JSONWebKeySet) : null;
  } catch {
    return null;
  }
}

const invalidKeys = (problem: string): CountersignError =>
  new CountersignError('invalid_settings', `settings are not usable:\n  ${problem}`, { problems: [problem] });
