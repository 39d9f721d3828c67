import { z } from 'zod';
import { CATALOGUE } from '../domain/events/catalogue.js';
import { SECRET_REFERENCE, secretReference } from './secret-reference.schema.js';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** An event type, or all that begin alike (`approval.*`). A word that means no event is a spelling mistake. */
const typePattern = z
  .string()
  .refine((pattern) => Object.keys(CATALOGUE).some((type) => matchesType(pattern, type)), 'names no event type');

/** Whether a word of a filter means an event type. */
export function matchesType(pattern: string, type: string): boolean {
  return pattern.endsWith('.*') ? type.startsWith(pattern.slice(0, -1)) : pattern === type;
}

const common = {
  types: z.array(typePattern).min(1).max(200).nullable().default(null),
  backoffMs: z.int().min(10).max(HOUR_MS).default(1000),
  backoffMsMax: z.int().min(10).max(DAY_MS).default(HOUR_MS),
  maxTries: z.int().min(1).max(1000).default(15),
};

const webhook = z.strictObject({
  kind: z.literal('webhook'),
  url: z.string().min(1).max(2048),
  secrets: z.array(secretReference).min(1).max(8),
  allowAddresses: z.array(z.string().min(1).max(64)).max(32).default([]),
  from: z.enum(['now', 'beginning']).default('now'),
  timeoutMs: z.int().min(100).max(120_000).default(15_000),
  concurrency: z.int().min(1).max(64).default(4),
  ...common,
});

const file = z.strictObject({
  kind: z.literal('file'),
  path: z.string().min(1).max(4096),
  from: z.enum(['now', 'beginning']).default('beginning'),
  ...common,
});

/** The address of a chat webhook is its only secret, so it is never written into the settings. */
const chat = z.strictObject({
  kind: z.literal('chat'),
  url: z
    .string()
    .regex(SECRET_REFERENCE, 'must be env:NAME, file:PATH or secret:NAME: whoever knows the address can post'),
  allowAddresses: z.array(z.string().min(1).max(64)).max(32).default([]),
  from: z.literal('now').default('now'),
  timeoutMs: z.int().min(100).max(120_000).default(15_000),
  ...common,
});

/** One sink as written in YAML, with the defaults that `config/default.yaml` documents. */
export const sinkSchema = z.discriminatedUnion('kind', [webhook, file, chat]);
