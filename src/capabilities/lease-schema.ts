import { z } from 'zod';
import { LEASE_MODES, TRUST_LEVELS } from '../domain/events/lease-events.js';

const word = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/, 'must be a word such as prod-payments');
const scope = z.string().regex(/^[A-Za-z0-9:._/*-]{1,128}$/, 'must be a scope such as refund:create');

/** The keys `lease` and `execution` of a manifest. What depends on more than one key is in lease-rules.ts. */
export function leaseKeys(duration: (minMs: number, maxMs: number) => z.ZodType<number>) {
  const ttl = duration(60_000, 300_000);
  const lease = z
    .strictObject({
      mode: z.enum(LEASE_MODES).default('inject'),
      scopes: z.array(scope).min(1).max(32).readonly(),
      audience: z
        .string()
        .regex(/^[\x21-\x7e]{1,256}$/, 'must be one text without blanks, such as https://tool.example')
        .nullable()
        .default(null),
      ttl: ttl.default(60_000),
      maxTtl: ttl.default(300_000),
      maxUses: z.int().min(1).max(1_000).default(1),
      renewableFor: duration(60_000, 24 * 3_600_000)
        .nullable()
        .default(null),
      header: z
        .string()
        .regex(/^[a-z0-9-]{1,64}$/, 'must be the name of a header in lower case')
        .nullable()
        .default(null),
    })
    .readonly();
  const execution = z
    .strictObject({
      environmentId: word,
      sandboxTrustLevel: z.enum(TRUST_LEVELS),
      networkPolicy: z
        .strictObject({
          allowHosts: z
            .array(z.string().regex(/^[a-z0-9.:[\]-]{1,253}$/, 'must be a host name or an address in lower case'))
            .min(1)
            .max(32)
            .readonly(),
        })
        .readonly(),
      dataAccessPolicy: z
        .strictObject({
          access: z.enum(['none', 'read', 'write']),
          resources: z.array(word).max(32).readonly().default([]),
        })
        .readonly(),
    })
    .readonly();
  return { lease: lease.nullable().default(null), execution: execution.nullable().default(null) };
}
