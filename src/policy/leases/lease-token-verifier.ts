import type { KeyObject } from 'node:crypto';
import { errors, jwtVerify } from 'jose';
import type { ErrorCode } from '../../domain/errors/error-codes.js';
import { refuse, type Refusal } from '../../domain/errors/error-codes.js';
import { ID_PREFIXES, isId } from '../../domain/ids/ids.js';
import { parseStrictJson } from '../../domain/json/strict-json.js';
import { LEASE_ALGORITHM, LEASE_TOKEN_TYPE } from '../../secrets/lease-keys.js';

const TOKEN_BYTES_MAX = 8192;
const LIFETIME_SECONDS_MAX = 300;
const TOLERANCE_SECONDS = 5;
const SEGMENT = /^[A-Za-z0-9_-]+$/;
const SEGMENT_LIMITS = { depthMax: 8, bytesMax: TOKEN_BYTES_MAX, keysMax: 64, stringUnitsMax: TOKEN_BYTES_MAX };
/** A header of ours has these and no other parameter: nothing in a token says which key or rule it is checked by. */
const HEADER = ['alg', 'kid', 'typ'];

/** What a lease token says, once its signature holds. */
export interface LeaseClaims {
  readonly iss: string;
  readonly aud: string;
  readonly sub: string;
  readonly act?: { readonly sub: string };
  readonly jti: string;
  readonly iat: number;
  readonly nbf: number;
  readonly exp: number;
  readonly txn: string;
  readonly attempt: number;
  readonly env: string;
  readonly cap: string;
  readonly cap_v: string;
  readonly args_h: string;
  readonly scope: string;
  readonly max_uses: number;
  readonly dec?: string;
  readonly pol?: string;
  readonly apr?: string;
}

const TEXTS = ['iss', 'aud', 'sub', 'jti', 'txn', 'env', 'cap', 'cap_v', 'args_h', 'scope'];
const NUMBERS = ['iat', 'nbf', 'exp', 'attempt', 'max_uses'];
const OPTIONAL_TEXTS = ['dec', 'pol', 'apr'];

export interface LeaseTokenTrust {
  readonly issuer: string;
  /** Null for a key that is not ours. */
  readonly keyOf: (kid: string) => KeyObject | null;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Verifies lease tokens (RFC 7519, RFC 8725). Everything about a token is fixed: three canonical segments, one algorithm,
 * exactly the header parameters we write, a key of ours by its id, one audience as a text, times that are safe integers
 * and no longer apart than a lease lasts. Whether the lease can still be used is the store's to say: single use is by
 * `jti`, never by the bytes of a token.
 */
export class LeaseTokenVerifier {
  constructor(private readonly trust: LeaseTokenTrust) {}

  /** `audience` null: any single one, which the caller compares with the lease. Messages never repeat the token. */
  async verify(
    token: string,
    audience: string | null,
  ): Promise<{ readonly ok: true; readonly claims: LeaseClaims } | Refusal> {
    if (token.length > TOKEN_BYTES_MAX) return no('lease_signature_invalid', 'The token is too long.');
    const segments = token.split('.');
    if (segments.length !== 3 || !segments.every(isCanonical))
      return no('lease_signature_invalid', 'The token is not a signed JWT.');
    const header = strictObject(segments[0] ?? '');
    const key = header === null ? null : this.keyFor(header);
    if (key === null) return no('lease_signature_invalid', 'The token is not signed with a key of ours.');
    try {
      await jwtVerify(token, key, {
        algorithms: [LEASE_ALGORITHM],
        issuer: this.trust.issuer,
        ...(audience === null ? {} : { audience }),
        typ: LEASE_TOKEN_TYPE,
        requiredClaims: [...TEXTS, ...NUMBERS],
        clockTolerance: TOLERANCE_SECONDS,
        currentDate: new Date(this.trust.now()),
      });
    } catch (error) {
      if (error instanceof errors.JWTExpired) return no('lease_expired', 'The token has expired.');
      return no('lease_signature_invalid', 'The token cannot be verified.');
    }
    // Read from the strictly parsed bytes that the signature covers: no duplicate key can hide a claim.
    const claims = claimsIn(strictObject(segments[1] ?? ''), this.trust.now());
    return claims === null
      ? no('lease_signature_invalid', 'The token does not say what a lease token says.')
      : { ok: true, claims };
  }

  private keyFor(header: Readonly<Record<string, unknown>>): KeyObject | null {
    const isOurs = Object.keys(header).toSorted().join() === HEADER.join();
    const { alg, typ, kid } = header;
    if (!isOurs || alg !== LEASE_ALGORITHM || typ !== LEASE_TOKEN_TYPE || typeof kid !== 'string') return null;
    return this.trust.keyOf(kid);
  }
}

const no = (code: ErrorCode, message: string): Refusal => refuse(code, message);

/** Bits that a lenient decoder would drop make another text of the same token; we wrote none of them. */
function isCanonical(segment: string): boolean {
  return SEGMENT.test(segment) && Buffer.from(segment, 'base64url').toString('base64url') === segment;
}

function strictObject(segment: string): Readonly<Record<string, unknown>> | null {
  const parsed = parseStrictJson(Buffer.from(segment, 'base64url'), SEGMENT_LIMITS);
  if (!parsed.ok || typeof parsed.value !== 'object' || parsed.value === null || Array.isArray(parsed.value))
    return null;
  return parsed.value as Readonly<Record<string, unknown>>;
}

function claimsIn(payload: Readonly<Record<string, unknown>> | null, nowMs: number): LeaseClaims | null {
  if (payload === null) return null;
  const fits =
    TEXTS.every((name) => typeof payload[name] === 'string') &&
    NUMBERS.every((name) => Number.isSafeInteger(payload[name])) &&
    OPTIONAL_TEXTS.every((name) => payload[name] === undefined || typeof payload[name] === 'string');
  if (!fits || !isId(ID_PREFIXES.lease, payload['jti'])) return null;
  const [iat, nbf, exp] = [payload['iat'], payload['nbf'], payload['exp']] as [number, number, number];
  const latest = nowMs / 1000 + TOLERANCE_SECONDS;
  const lasts = exp - iat;
  if (iat > latest || nbf > latest || lasts < 0 || lasts > LIFETIME_SECONDS_MAX) return null;
  return payload as unknown as LeaseClaims;
}
