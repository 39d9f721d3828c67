import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose';
import * as oauth from 'oauth4webapi';
import type { IdentityProviderSettings } from '../config/settings.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { fetchThrough, type FetchInit } from '../egress/fetch-through.js';
import type { HttpClient } from '../egress/http-client.js';
import type { Clock } from '../system/clock.js';

const ANSWER_BYTES_MAX = 512 * 1024;
/** A provider that has just failed is not asked again for so long, or for its cooldown where that is shorter. */
const FAILED_MS = 5000;

class FailedJustNow extends Error {
  override readonly name = 'FailedJustNow';
}

type Fetch = (url: string, init: FetchInit) => Promise<Response>;

/**
 * The keys of one provider: found by discovery, fetched when needed, kept for `cacheMaxAgeMs`, asked for again at most once per
 * `cooldownMs` whatever key ids tokens name. A provider that fails or hangs makes its own tokens unusable and nobody else's.
 */
export class RemoteKeys {
  private keySet: JWTVerifyGetKey | null = null;
  private finding: Promise<JWTVerifyGetKey> | null = null;
  private failedAt = Number.NEGATIVE_INFINITY;
  private readonly ask: Fetch;

  /** `onNewKeys` is told whenever keys were fetched. */
  constructor(
    private readonly provider: IdentityProviderSettings,
    http: Pick<HttpClient, 'send'>,
    private readonly clock: Clock,
    private readonly onNewKeys: () => void,
  ) {
    const { allowAddresses, timeoutMs } = provider;
    this.ask = this.watched(fetchThrough(http, { allowAddresses, timeoutMs, responseBytesMax: ANSWER_BYTES_MAX }));
  }

  /** @throws CountersignError `identity_provider_unavailable`; an error of jose when no key fits. */
  readonly get: JWTVerifyGetKey = async (header, token) => {
    try {
      const keys = this.keySet ?? (await this.found());
      return await keys(header, token);
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) throw error;
      // An answer that says nothing of use is a failure too: else every token that names this issuer would ask again.
      if (!(error instanceof FailedJustNow)) this.failedAt = this.clock.monotonic();
      throw new CountersignError('identity_provider_unavailable', 'the keys of the token’s issuer cannot be had now', {
        retryAfterSeconds: Math.ceil(FAILED_MS / 1000),
      });
    }
  };

  private found(): Promise<JWTVerifyGetKey> {
    this.finding ??= this.find().finally(() => {
      this.finding = null;
    });
    return this.finding;
  }

  private async find(): Promise<JWTVerifyGetKey> {
    const { cooldownMs, cacheMaxAgeMs, timeoutMs } = this.provider;
    const uri = new URL(this.provider.jwksUri ?? (await this.discovered()));
    this.keySet = createRemoteJWKSet(uri, {
      [customFetch]: async (url, init) => {
        const response = await this.ask(url, init);
        this.onNewKeys();
        return response;
      },
      cooldownDuration: cooldownMs,
      cacheMaxAge: cacheMaxAgeMs,
      timeoutDuration: timeoutMs,
    });
    return this.keySet;
  }

  /** OpenID Connect Discovery; the issuer it says must be the one it was asked of. */
  private async discovered(): Promise<string> {
    const issuer = new URL(this.provider.issuer);
    const options = { [oauth.customFetch]: this.ask, [oauth.allowInsecureRequests]: issuer.protocol === 'http:' };
    const metadata = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, options));
    if (metadata.jwks_uri === undefined || new URL(metadata.jwks_uri).protocol !== issuer.protocol) {
      throw new Error('the provider names no place of its keys');
    }
    return metadata.jwks_uri;
  }

  /** A failure counts for whoever asks next; an answer other than 200 is one. */
  private watched(fetch: Fetch): Fetch {
    return async (url, init) => {
      const { cooldownMs } = this.provider;
      if (this.clock.monotonic() - this.failedAt < Math.min(FAILED_MS, cooldownMs)) throw new FailedJustNow();
      try {
        const response = await fetch(url, init);
        if (response.status !== 200) this.failedAt = this.clock.monotonic();
        return response;
      } catch (error) {
        this.failedAt = this.clock.monotonic();
        throw error;
      }
    };
  }
}
