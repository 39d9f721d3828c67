import * as oauth from 'oauth4webapi';
import type { FetchedCredentialSettings, TokenExchangeSettings } from '../../config/settings.js';
import { FetchUnanswered, fetchThrough, type FetchInit } from '../../egress/fetch-through.js';
import type { HttpClient } from '../../egress/http-client.js';

/** RFC 8693 section 2.1. */
const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ANSWER_BYTES_MAX = 256 * 1024;

export interface FetchedToken {
  readonly token: string;
  /** As the server says it; null when it does not. */
  readonly lifetimeSeconds: number | null;
}

/** No token was to be had. The reason is a word of ours or an error code of OAuth; nothing of a token or an answer. */
export class TokenUnavailable extends Error {
  override readonly name = 'TokenUnavailable';

  constructor(readonly reason: string) {
    super(`no token: ${reason}`);
  }
}

/** Asks one authorization server for one credential. */
export class OAuthClient {
  private server: oauth.AuthorizationServer | null = null;
  private readonly client: oauth.Client;
  private readonly options: {
    [oauth.customFetch]: (url: string, init: FetchInit) => Promise<Response>;
    [oauth.allowInsecureRequests]: boolean;
  };

  /** `resolve` answers references to secrets; they are asked anew for each token. */
  constructor(
    private readonly settings: FetchedCredentialSettings,
    private readonly resolve: (reference: string) => string | null,
    http: Pick<HttpClient, 'send'>,
  ) {
    const { allowAddresses, timeoutMs, clientId, tokenUrl, issuer } = settings;
    this.client = { client_id: clientId };
    this.options = {
      [oauth.customFetch]: fetchThrough(http, { allowAddresses, timeoutMs, responseBytesMax: ANSWER_BYTES_MAX }),
      // The settings allow plain HTTP only for addresses that they name.
      [oauth.allowInsecureRequests]: (tokenUrl ?? issuer ?? '').startsWith('http:'),
    };
  }

  /** @throws TokenUnavailable */
  async fetchToken(): Promise<FetchedToken> {
    try {
      const server = await this.discovered();
      const { client, settings } = this;
      const response =
        settings.kind === 'token_exchange'
          ? await this.exchange(server, settings)
          : await oauth.clientCredentialsGrantRequest(server, client, this.auth(), this.target(), this.options);
      const answer = await oauth.processGenericTokenEndpointResponse(server, client, response);
      if (answer.token_type !== 'bearer') throw new TokenUnavailable('token_type_unsupported');
      return { token: answer.access_token, lifetimeSeconds: answer.expires_in ?? null };
    } catch (error) {
      throw unavailable(error);
    }
  }

  /** Tells the server that a token is good no more (RFC 7009). False: it has no place to be told. @throws TokenUnavailable */
  async revoke(token: string): Promise<boolean> {
    try {
      const server = await this.discovered();
      if (server.revocation_endpoint === undefined) return false;
      const response = await oauth.revocationRequest(server, this.client, this.auth(), token, this.options);
      await oauth.processRevocationResponse(response);
      return true;
    } catch (error) {
      throw unavailable(error);
    }
  }

  private exchange(server: oauth.AuthorizationServer, settings: TokenExchangeSettings): Promise<Response> {
    const parameters = this.target();
    parameters.set('subject_token', this.secret(settings.subjectToken));
    parameters.set('subject_token_type', settings.subjectTokenType);
    if (settings.actorToken !== null) {
      parameters.set('actor_token', this.secret(settings.actorToken));
      parameters.set('actor_token_type', settings.actorTokenType);
    }
    return oauth.genericTokenEndpointRequest(
      server,
      this.client,
      this.auth(),
      TOKEN_EXCHANGE,
      parameters,
      this.options,
    );
  }

  private target(): URLSearchParams {
    const { scope, audience, resource } = this.settings;
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries({ scope, audience, resource })) {
      if (value !== null) parameters.set(name, value);
    }
    return parameters;
  }

  private auth(): oauth.ClientAuth {
    const secret = this.secret(this.settings.clientSecret);
    return this.settings.clientAuth === 'basic' ? oauth.ClientSecretBasic(secret) : oauth.ClientSecretPost(secret);
  }

  private secret(reference: string): string {
    const value = this.resolve(reference);
    if (value === null) throw new TokenUnavailable('secret_missing');
    return value;
  }

  private async discovered(): Promise<oauth.AuthorizationServer> {
    const { issuer, tokenUrl, revocationUrl } = this.settings;
    if (this.server !== null) return this.server;
    const told = revocationUrl === null ? {} : { revocation_endpoint: revocationUrl };
    if (tokenUrl !== null) {
      this.server = { issuer: new URL(tokenUrl).origin, token_endpoint: tokenUrl, ...told };
    } else if (issuer !== null) {
      this.server = { ...(await this.metadata(new URL(issuer))), ...told };
    } else {
      throw new TokenUnavailable('server_unknown');
    }
    return this.server;
  }

  /** OpenID Connect Discovery, else RFC 8414. */
  private async metadata(issuer: URL): Promise<oauth.AuthorizationServer> {
    const oidc = await oauth.discoveryRequest(issuer, this.options);
    const response =
      oidc.status === 200 ? oidc : await oauth.discoveryRequest(issuer, { ...this.options, algorithm: 'oauth2' });
    return oauth.processDiscoveryResponse(issuer, response);
  }
}

/** Words of OAuth (RFC 6749 section 5.2); what a server says besides is nobody's to repeat. */
const OAUTH_CODE = /^[a-z_]{1,64}$/;

function unavailable(error: unknown): TokenUnavailable {
  if (error instanceof TokenUnavailable) return error;
  if (error instanceof FetchUnanswered) return new TokenUnavailable(`server_${error.reason}`);
  if (error instanceof oauth.ResponseBodyError && OAUTH_CODE.test(error.error))
    return new TokenUnavailable(error.error);
  if (error instanceof oauth.WWWAuthenticateChallengeError) return new TokenUnavailable('invalid_client');
  return new TokenUnavailable('answer_not_understood');
}
