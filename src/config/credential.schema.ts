import { z } from 'zod';
import { secretReference } from './secret-reference.schema.js';

const httpUrl = z.url({ protocol: /^https?$/ });
const text = z.string().min(1).max(2048);

/** How the credential travels to the tool. */
const carried = {
  header: z.string().regex(/^[a-z0-9-]{1,64}$/),
  scheme: z
    .string()
    .regex(/^[A-Za-z]{1,32}$/)
    .nullable(),
};

/** What is known of an authorization server, and how we show who we are. */
const fetched = {
  header: carried.header.default('authorization'),
  scheme: carried.scheme.default('Bearer'),
  /** One of the two: `issuer` finds the endpoints by RFC 8414 or OpenID Connect Discovery. */
  tokenUrl: httpUrl.nullable().default(null),
  issuer: httpUrl.nullable().default(null),
  revocationUrl: httpUrl.nullable().default(null),
  clientId: text,
  clientSecret: secretReference,
  clientAuth: z.enum(['basic', 'post']).default('basic'),
  scope: text.nullable().default(null),
  audience: text.nullable().default(null),
  resource: text.nullable().default(null),
  allowAddresses: z.array(z.string().min(1).max(64)).max(32).default([]),
  timeoutMs: z.int().min(100).max(120_000).default(10_000),
};

const fixed = z.strictObject({ kind: z.literal('static'), secret: secretReference, ...carried });

interface Reached {
  readonly tokenUrl: string | null;
  readonly issuer: string | null;
  readonly revocationUrl: string | null;
  readonly allowAddresses: readonly string[];
}

const hasOnePlace = ({ tokenUrl, issuer }: Reached): boolean => (tokenUrl === null) !== (issuer === null);

/** Client secrets and tokens go there: without TLS only to addresses that the operator names. */
const isReachedSafely = ({ tokenUrl, issuer, revocationUrl, allowAddresses }: Reached): boolean =>
  allowAddresses.length > 0 || [tokenUrl, issuer, revocationUrl].every((url) => url?.startsWith('http:') !== true);

const ONE_PLACE = 'exactly one of tokenUrl and issuer';
const SAFE = 'https, or http for addresses named in allowAddresses';

const clientCredentials = z
  .strictObject({ kind: z.literal('oauth_client_credentials'), ...fetched })
  .refine(hasOnePlace, ONE_PLACE)
  .refine(isReachedSafely, SAFE);

const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';

const tokenExchange = z
  .strictObject({
    kind: z.literal('token_exchange'),
    ...fetched,
    subjectToken: secretReference,
    subjectTokenType: text.default(ACCESS_TOKEN),
    actorToken: secretReference.nullable().default(null),
    actorTokenType: text.default(ACCESS_TOKEN),
  })
  .refine(hasOnePlace, ONE_PLACE)
  .refine(isReachedSafely, SAFE);

/** Without `kind` it is a secret that stays as it is: the form that came first. */
function withKind(written: unknown): unknown {
  const isMap = typeof written === 'object' && written !== null && !Array.isArray(written);
  return isMap && !Object.hasOwn(written, 'kind') ? { kind: 'static', ...written } : written;
}

/** One upstream credential as written in YAML, with the defaults that `config/default.yaml` documents. */
export const credentialSchema = z.preprocess(
  withKind,
  z.discriminatedUnion('kind', [fixed, clientCredentials, tokenExchange]),
);
