import { createHash } from 'node:crypto';
import { errors, jwtVerify } from 'jose';
import type { Settings } from '../config/settings.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { parseStrictJson } from '../domain/json/strict-json.js';
import { requesterSubjects } from '../domain/principal.js';
import type { HttpClient } from '../egress/http-client.js';
import type { Clock } from '../system/clock.js';
import type { Caller } from './caller.js';
import type { Claims } from './claims.js';
import { localIssuer, type TrustedIssuer } from './issuer.js';
import { providerIssuer } from './provider-issuer.js';
import type { Revocations } from './revocations.js';

type IdentitySettings = Settings['identity'];

/** Longer tokens are refused before anything looks into them. */
const TOKEN_BYTES_MAX = 8192;
const SEGMENT_LIMITS = { depthMax: 8, bytesMax: TOKEN_BYTES_MAX, keysMax: 256, stringUnitsMax: TOKEN_BYTES_MAX };

interface Verified {
  readonly caller: Caller;
  readonly expiresAtMs: number;
}

/** What a running server has besides its settings: how to reach providers, and which tokens count no more. */
export interface VerifierSurroundings {
  readonly http: Pick<HttpClient, 'send'>;
  readonly revocations: Pick<Revocations, 'covers' | 'onChange'>;
}

/**
 * Verifies bearer tokens (RFC 7519, RFC 8725): the issuer a token names decides which keys, algorithms, audience and type it is held
 * against, and keys never come from the token. A verified token is kept by the hash of its bytes until it expires, keys change or
 * tokens are revoked.
 */
export class TokenVerifier {
  private readonly verified = new Map<string, Verified>();
  private issuers: ReadonlyMap<string, TrustedIssuer>;
  /** Changes whenever what was verified before may be good no more. */
  private era = 0;

  /** Without surroundings only the issuer of `identity.jwksFile` is known, and nothing is revoked. */
  constructor(
    private readonly settings: IdentitySettings,
    private readonly clock: Clock,
    private readonly surroundings: VerifierSurroundings | null = null,
  ) {
    this.issuers = this.trusted();
    surroundings?.revocations.onChange(() => this.forget());
  }

  /** Reads the key set again; tokens verified with the old one are forgotten. */
  reloadKeys(): void {
    this.issuers = this.trusted();
    this.forget();
  }

  /** @throws CountersignError `unauthenticated`, `identity_provider_unavailable`; the message never repeats anything of the token. */
  async verify(token: string): Promise<Caller> {
    if (token.length > TOKEN_BYTES_MAX) throw unauthenticated('the token is too long');
    const fingerprint = createHash('sha256').update(token).digest('base64');
    const known = this.verified.get(fingerprint);
    const nowMs = this.clock.now();
    if (known !== undefined && nowMs < known.expiresAtMs) return known.caller;
    const { era } = this;
    const fresh = await this.check(token, nowMs);
    // A token that was checked by what has changed meanwhile is not kept.
    if (era === this.era) this.keep(fingerprint, fresh);
    return fresh.caller;
  }

  private async check(token: string, nowMs: number): Promise<Verified> {
    const segments = token.split('.');
    if (segments.length !== 3) throw unauthenticated('the token is not a signed JWT');
    const header = strictSegment(segments[0] as string);
    // These are the bytes that the signature covers, strictly parsed: no duplicate key can hide a role.
    const claims = strictSegment(segments[1] as string);
    const issuer = typeof claims['iss'] === 'string' ? this.issuers.get(claims['iss']) : undefined;
    if (issuer === undefined) throw unauthenticated("the token's claim iss is not accepted");
    const type = header['typ'];
    const isType = type === undefined || typeof type === 'string';
    if (!isType || !issuer.accepts(type?.toLowerCase() ?? null, claims)) {
      throw unauthenticated('the token has the wrong type');
    }
    await this.verifySignature(token, issuer, nowMs);
    const read = issuer.read(claims, nowMs);
    if (!read.ok) throw unauthenticated(read.problem);
    const { caller, jti, issuedAt } = read;
    const facts = { jti, issuedAt, tenant: caller.tenant, subjects: requesterSubjects(caller.actor) };
    if (this.surroundings?.revocations.covers(facts) === true) throw unauthenticated('the token was revoked');
    return { caller, expiresAtMs: Math.min(read.expiresAtMs, nowMs + issuer.believedForMs) };
  }

  private async verifySignature(token: string, issuer: TrustedIssuer, nowMs: number): Promise<void> {
    try {
      await jwtVerify(token, issuer.keys, {
        algorithms: [...issuer.algorithms],
        issuer: issuer.issuer,
        audience: issuer.audience,
        clockTolerance: this.settings.clockToleranceMs / 1000,
        requiredClaims: ['exp', 'iat', 'sub'],
        currentDate: new Date(nowMs),
      });
    } catch (error) {
      if (error instanceof CountersignError) throw error;
      throw unauthenticated(error instanceof errors.JOSEError ? wordFor(error) : 'the token cannot be verified');
    }
  }

  private trusted(): ReadonlyMap<string, TrustedIssuer> {
    const { settings, surroundings, clock } = this;
    const around = surroundings === null ? null : { http: surroundings.http, clock, onNewKeys: () => this.forget() };
    const providers = around === null ? [] : settings.providers.map((one) => providerIssuer(one, settings, around));
    return new Map([localIssuer(settings), ...providers].map((issuer) => [issuer.issuer, issuer]));
  }

  private forget(): void {
    this.era += 1;
    this.verified.clear();
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

function strictSegment(segment: string): Claims {
  const parsed = parseStrictJson(Buffer.from(segment, 'base64url'), SEGMENT_LIMITS);
  if (!parsed.ok || typeof parsed.value !== 'object' || parsed.value === null || Array.isArray(parsed.value)) {
    throw unauthenticated('the token is not well formed');
  }
  return parsed.value as Claims;
}

const unauthenticated = (message: string): CountersignError => new CountersignError('unauthenticated', message);

function wordFor(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return 'the token has expired';
  if (error instanceof errors.JWTClaimValidationFailed) return `the token's claim ${error.claim} is not accepted`;
  if (error instanceof errors.JOSEAlgNotAllowed) return 'the token uses an algorithm that is not allowed';
  if (error instanceof errors.JWKSNoMatchingKey) return 'the token is signed with an unknown key';
  return 'the token cannot be verified';
}
