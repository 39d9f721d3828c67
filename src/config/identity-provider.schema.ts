import { z } from 'zod';

const text = z.string().min(1).max(512);
const word = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/);
const httpUrl = z.url({ protocol: /^https?$/ });
const HOUR_MS = 3_600_000;

/** Symmetric algorithms are refused: a verifier must not be able to sign. */
export const ASYMMETRIC = [
  'Ed25519',
  'EdDSA',
  'ES256',
  'ES384',
  'ES512',
  'PS256',
  'PS384',
  'PS512',
  'RS256',
  'RS384',
  'RS512',
] as const;

/** What a provider may make of its people; agents, connectors and sources of feedback get tokens of the installation's own issuer. */
const role = z.enum(['harness', 'approver', 'operator', 'auditor', 'connector', 'feedback']);

/** One OpenID Connect provider as written in YAML, with the defaults that `config/default.yaml` documents. */
export const providerSchema = z
  .strictObject({
    name: word,
    issuer: httpUrl,
    audience: text,
    algorithms: z.array(z.enum(ASYMMETRIC)).min(1),
    /** Null: found by discovery from the issuer. */
    jwksUri: httpUrl.nullable().default(null),
    /** What is verified: access tokens (RFC 9068 or plain JWTs), or ID tokens. */
    tokens: z.enum(['access', 'id']).default('access'),
    rolesClaim: text.nullable().default(null),
    rolesByGroup: z.record(text, z.array(role)).default({}),
    groupsClaim: text.nullable().default(null),
    groups: z.record(text, word).nullable().default(null),
    tenant: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/)
      .nullable()
      .default(null),
    tenantClaim: text.nullable().default(null),
    subjectPrefix: z
      .string()
      .regex(/^[\x21-\x7e]{1,64}$/)
      .nullable()
      .default(null),
    allowAddresses: z.array(z.string().min(1).max(64)).max(32).default([]),
    timeoutMs: z.int().min(100).max(60_000).default(5000),
    cooldownMs: z.int().min(100).max(HOUR_MS).default(30_000),
    cacheMaxAgeMs: z
      .int()
      .min(1000)
      .max(24 * HOUR_MS)
      .default(600_000),
  })
  .refine(
    ({ tenant, tenantClaim }) => (tenant === null) !== (tenantClaim === null),
    'exactly one of tenant and tenantClaim',
  )
  .refine(
    ({ issuer, jwksUri, allowAddresses }) =>
      allowAddresses.length > 0 || [issuer, jwksUri].every((url) => url?.startsWith('http:') !== true),
    'https, or http for addresses named in allowAddresses',
  );

type Provider = z.infer<typeof providerSchema>;

const prefix = ({ name, subjectPrefix }: Provider): string => subjectPrefix ?? `${name}:`;

/** All of them: one issuer each, and no two that could give somebody the same name. */
export const providersSchema = z
  .array(providerSchema)
  .max(32)
  .refine((all) => new Set(all.map(({ issuer }) => issuer)).size === all.length, 'each issuer once')
  .refine(
    (all) => all.every((one, n) => all.every((other, m) => n === m || !prefix(other).startsWith(prefix(one)))),
    'subject prefixes of which none begins with another',
  );
