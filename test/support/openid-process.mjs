// @ts-nocheck: oidc-provider brings no types
/**
 * A real OpenID provider (npm oidc-provider) on a port of its own: client credentials, token exchange, revocation, JWT access tokens
 * for people, keys that can be rotated while it runs. Prints its issuer as JSON; takes one JSON command a line on stdin and answers
 * each with a line: `rotate`, `hang`, `serve`, `requests`.
 */
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { Provider } from 'oidc-provider';

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const PERSON = 'urn:test:person';
const AUDIENCE = 'countersign';
const LIFETIME_SECONDS = 120;

const requests = [];
let mode = 'serve';
let keyNumber = 0;
let current;

const server = createServer((request, response) => {
  requests.push(`${request.method} ${request.url}`);
  if (mode === 'hang') return;
  if (mode === 'fail') {
    response.writeHead(500).end();
    return;
  }
  current.callback()(request, response);
});
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  current = providerOf(issuer);
  console.log(JSON.stringify({ issuer }));
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { command } = JSON.parse(line);
    if (command === 'rotate') current = providerOf(issuer);
    else if (command === 'requests') console.log(JSON.stringify({ requests: requests.splice(0) }));
    else mode = command;
    if (command !== 'requests') console.log(JSON.stringify({ done: command }));
  });
});

function providerOf(issuer) {
  keyNumber += 1;
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = { ...privateKey.export({ format: 'jwk' }), kid: `key-${keyNumber}`, alg: 'RS256', use: 'sig' };
  const resourceServer = {
    scope: 'tickets.write',
    audience: AUDIENCE,
    accessTokenTTL: LIFETIME_SECONDS,
    accessTokenFormat: 'jwt',
    jwt: { sign: { alg: 'RS256' } },
  };
  const provider = new Provider(issuer, {
    jwks: { keys: [key] },
    clients: [
      {
        client_id: 'countersign',
        client_secret: 'canary-client-secret-2Xc',
        grant_types: ['client_credentials', EXCHANGE, PERSON],
        redirect_uris: [],
        response_types: [],
      },
    ],
    scopes: ['tickets.write'],
    ttl: { ClientCredentials: LIFETIME_SECONDS, AccessToken: LIFETIME_SECONDS },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      revocation: { enabled: true },
      introspection: { enabled: true },
      resourceIndicators: { enabled: true, getResourceServerInfo: () => resourceServer },
    },
    extraTokenClaims: (_ctx, token) => token.extra ?? {},
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
  });
  provider.registerGrantType(EXCHANGE, exchange, [
    'subject_token',
    'subject_token_type',
    'actor_token',
    'actor_token_type',
    'audience',
    'scope',
    'resource',
    'requested_token_type',
  ]);
  provider.registerGrantType(PERSON, (ctx) => personToken(ctx, resourceServer), ['sub', 'claims_json']);
  return provider;
}

/** RFC 8693 section 2: for one subject token only. */
async function exchange(ctx) {
  const { client, params, provider } = ctx.oidc;
  if (params.subject_token !== 'canary-subject-token-9Kd' || params.audience !== 'files') {
    ctx.status = 400;
    ctx.body = { error: 'invalid_target', error_description: `no exchange of ${params.subject_token}` };
    return;
  }
  const token = new provider.ClientCredentials({ client, scope: params.scope });
  ctx.body = {
    access_token: await token.save(),
    issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    token_type: 'Bearer',
    expires_in: LIFETIME_SECONDS,
  };
}

/** An access token as a person's browser would bring one. */
async function personToken(ctx, info) {
  const { client, params, provider } = ctx.oidc;
  const token = new provider.AccessToken({
    accountId: params.sub,
    client,
    grantId: 'grant',
    gty: PERSON,
    scope: 'tickets.write',
  });
  token.resourceServer = new provider.ResourceServer('urn:countersign', info);
  token.extra = JSON.parse(params.claims_json ?? '{}');
  ctx.body = { access_token: await token.save(), token_type: 'Bearer', expires_in: LIFETIME_SECONDS };
}
