import { Injectable } from '@nestjs/common';
import { Settings, type FetchedCredentialSettings } from '../../config/settings.js';
import { HttpClient } from '../../egress/http-client.js';
import { Clock } from '../../system/clock.js';
import { Logger } from '../../system/logger.js';
import { after } from '../../system/timers.js';
import { Credentials, isStatic } from '../credentials.js';
import { FetchedCredential } from './fetched-credential.js';
import { OAuthClient, TokenUnavailable } from './oauth-client.js';

/** `not_supported`: its authorization server takes no revocations; it ends by itself. `failed`: the server was not told. */
export type CredentialRevocation = 'revoked' | 'not_held' | 'not_supported' | 'failed';

interface Fetched {
  readonly credential: FetchedCredential;
  readonly client: OAuthClient;
}

/** The credentials of the settings that authorization servers give for a time; a static one is always ready and never revoked. */
@Injectable()
export class UpstreamCredentials {
  private readonly fetched = new Map<string, Fetched>();

  constructor(
    settings: Settings,
    private readonly credentials: Credentials,
    http: HttpClient,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    for (const [name, credential] of Object.entries(settings.credentials)) {
      if (isStatic(credential)) continue;
      this.fetched.set(name, this.following(name, credential, http));
    }
  }

  /**
   * Null: the credential can be used now. Else whether it can be after waiting, at most until `deadline` (monotonic milliseconds);
   * with false nothing may be sent. Never rejects.
   */
  ready(name: string, deadline: number): Promise<boolean> | null {
    const waiting = this.fetched.get(name)?.credential.ready() ?? null;
    return waiting === null ? null : this.within(waiting, deadline);
  }

  /** ISO 8601: when it ends by what its authorization server said; null for a secret, and where no token is held. */
  expiresAt(name: string): string | null {
    const at = this.fetched.get(name)?.credential.expiresAt ?? null;
    return at === null ? null : new Date(at).toISOString();
  }

  /** The tool did not take the token of a request that was sent then (monotonic milliseconds): the next call fetches another. */
  refused(name: string, sentAt: number): void {
    this.fetched.get(name)?.credential.forgetOlderThan(sentAt);
  }

  /** Ends the token that is held, here and at its authorization server (RFC 7009). */
  async revoke(name: string): Promise<CredentialRevocation> {
    const fetched = this.fetched.get(name);
    if (fetched === undefined) return 'not_supported';
    const token = fetched.credential.forget();
    if (token === null) return 'not_held';
    try {
      return (await fetched.client.revoke(token)) ? 'revoked' : 'not_supported';
    } catch (error) {
      this.tell(
        'a credential could not be revoked',
        name,
        error instanceof TokenUnavailable ? error.reason : 'unexpected',
      );
      return 'failed';
    }
  }

  private following(name: string, settings: FetchedCredentialSettings, http: HttpClient): Fetched {
    const client = new OAuthClient(settings, (reference) => this.credentials.resolve(reference), http);
    const keeping = {
      hold: (token: string | null) => {
        if (token === null) this.credentials.drop(name);
        else this.credentials.hold(name, token);
      },
      failed: (reason: string) => this.tell('a credential could not be fetched', name, reason),
    };
    return { credential: new FetchedCredential(() => client.fetchToken(), keeping, this.clock), client };
  }

  private tell(message: string, credential: string, problem: string): void {
    this.logger.warn(message, { credential, problem });
  }

  private within(waiting: Promise<boolean>, deadline: number): Promise<boolean> {
    const leftMs = deadline - this.clock.monotonic();
    if (leftMs <= 0) return Promise.resolve(false);
    return new Promise((resolve) => {
      const timer = after(leftMs, () => resolve(false));
      void waiting.then((isReady) => {
        timer.cancel();
        resolve(isReady);
      });
    });
  }
}
