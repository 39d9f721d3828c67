import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createLocalJWKSet, errors, jwtVerify, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import type { Settings } from '../config/settings.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { parseStrictJson } from '../domain/json/strict-json.js';
import type { Clock } from '../system/clock.js';
import type { Caller } from './caller.js';
import { readClaims } from './claims.js';

type IdentitySettings = Settings['identity'];

/** Longer tokens are refused before anything looks into them. */
const TOKEN_BYTES_MAX = 8192;
/** RFC 9068 access tokens, and plain JWTs of identity providers that do not follow it. A lease token is neither. */
const TOKEN_TYPES = ['at+jwt', 'application/at+jwt', 'jwt'];
const SEGMENT_LIMITS = { depthMax: 8, bytesMax: TOKEN_BYTES_MAX, keysMax: 256, stringUnitsMax: TOKEN_BYTES_MAX };

interface Verified {
  readonly caller: Caller;
  readonly expiresAtMs: number;
}

/**
 * Verifies bearer tokens (RFC 7519, RFC 8725): algorithm list, issuer, audience, type and lifetime are always checked,
 * keys come from a local JWK set and never from the token. A verified token is kept by the hash of its bytes until it
 * expires or the keys change.
 */
export class TokenVerifier {
  private readonly verified = new Map<string, Verified>();
  private keys: JWTVerifyGetKey;

  constructor(
    private readonly settings: IdentitySettings,
    private readonly clock: Clock,
  ) {
    this.keys = readKeySet(settings.jwksFile);
  }

  /** Reads the key set again; tokens verified with the old one are forgotten. */
  reloadKeys(): void {
    this.keys = readKeySet(this.settings.jwksFile);
    this.verified.clear();
  }

  /** @throws CountersignError `unauthenticated`; the message never repeats anything of the token. */
  async verify(token: string): Promise<Caller> {
    if (token.length > TOKEN_BYTES_MAX) throw unauthenticated('the token is too long');
    const fingerprint = createHash('sha256').update(token).digest('base64');
    const known = this.verified.get(fingerprint);
    const nowMs = this.clock.now();
    if (known !== undefined && nowMs < known.expiresAtMs) return known.caller;
    const { keys } = this;
    const fresh = await this.check(token, nowMs);
    // A token that was checked with keys that are gone meanwhile is not kept.
    if (keys === this.keys) this.keep(fingerprint, fresh);
    return fresh.caller;
  }

  private async check(token: string, nowMs: number): Promise<Verified> {
    const segments = token.split('.');
    if (segments.length !== 3) throw unauthenticated('the token is not a signed JWT');
    const header = strictSegment(segments[0] as string);
    const type: unknown = header['typ'];
    if (typeof type !== 'string' || !TOKEN_TYPES.includes(type.toLowerCase())) {
      throw unauthenticated('the token has the wrong type');
    }
    try {
      await jwtVerify(token, this.keys, {
        algorithms: [...this.settings.algorithms],
        issuer: this.settings.issuer,
        audience: this.settings.audience,
        clockTolerance: this.settings.clockToleranceMs / 1000,
        requiredClaims: ['exp', 'iat', 'sub'],
        currentDate: new Date(nowMs),
      });
    } catch (error) {
      throw unauthenticated(error instanceof errors.JOSEError ? wordFor(error) : 'the token cannot be verified');
    }
    // The claims are read from the strictly parsed bytes that the signature covers: no duplicate key can hide a role.
    const read = readClaims(strictSegment(segments[1] as string), this.settings, nowMs);
    if (!read.ok) throw unauthenticated(read.problem);
    return { caller: read.caller, expiresAtMs: read.expiresAtMs };
  }

  private keep(fingerprint: string, verified: Verified): void {
    if (this.settings.tokenCacheMax === 0) return;
    this.verified.delete(fingerprint);
    while (this.verified.size >= this.settings.tokenCacheMax) {
      const oldest = this.verified.keys().next();
      if (oldest.done === true) break;
      this.verified.delete(oldest.value);
    }
    this.verified.set(fingerprint, verified);
  }
}

function strictSegment(segment: string): Readonly<Record<string, unknown>> {
  const parsed = parseStrictJson(Buffer.from(segment, 'base64url'), SEGMENT_LIMITS);
  if (!parsed.ok || typeof parsed.value !== 'object' || parsed.value === null || Array.isArray(parsed.value)) {
    throw unauthenticated('the token is not well formed');
  }
  return parsed.value as Readonly<Record<string, unknown>>;
}

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

const unauthenticated = (message: string): CountersignError => new CountersignError('unauthenticated', message);

function wordFor(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return 'the token has expired';
  if (error instanceof errors.JWTClaimValidationFailed) return `the token's claim ${error.claim} is not accepted`;
  if (error instanceof errors.JOSEAlgNotAllowed) return 'the token uses an algorithm that is not allowed';
  if (error instanceof errors.JWKSNoMatchingKey) return 'the token is signed with an unknown key';
  return 'the token cannot be verified';
}
