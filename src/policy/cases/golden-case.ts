import { z } from 'zod';
import { readManifestYaml } from '../../capabilities/manifest-yaml.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import { pointerFrom } from '../../domain/json/json-pointer.js';

/** Facts that the server supplies to a decision, in the form of the policy request; `time` follows from `at`. */
export const FACT_KEYS = [
  'counters',
  'environment',
  'riskScore',
  'previousDenials',
  'agentSuspended',
  'compensation',
  'breakGlass',
] as const;
export type FactKey = (typeof FACT_KEYS)[number];

const word = z.string().min(1).max(256);
const votes = z.strictObject({ count: z.int().min(0), includesRequester: z.boolean().optional() });
const count = z.int().min(0);
/** Typed, since a fact of another form would be one that no call has. */
const facts = {
  counters: z.record(word, count).optional(),
  environment: word.optional(),
  riskScore: count.max(1000).optional(),
  previousDenials: z.strictObject({ byPeople: count, byPolicy: count }).optional(),
  agentSuspended: z.boolean().optional(),
  compensation: z.boolean().optional(),
  breakGlass: z.boolean().optional(),
} satisfies Record<FactKey, z.ZodType>;

const caseSchema = z.strictObject({
  name: z.string().min(1).max(500),
  capability: word,
  request: z.strictObject({
    sub: word,
    act: word.optional(),
    tenant: word.optional(),
    roles: z.array(word).optional(),
    input: z.record(z.string(), z.unknown()),
    approvals: z.record(word, votes).optional(),
    attempt: z.int().min(1).optional(),
    at: z.iso.datetime({ offset: true }).optional(),
    reasoningPresent: z.boolean().optional(),
    allowDuplicateIntent: z.boolean().optional(),
    ...facts,
  }),
  expect: z.strictObject({
    outcome: z.enum(['allow', 'deny', 'requires_confirmation']),
    denyCode: z.enum(['no_permit', 'forbidden', 'engine_error', 'budget_exceeded']).optional(),
    reasons: z.array(z.string()).optional(),
    determining: z.array(z.string()).optional(),
    group: word.optional(),
    /** Of the group that is asked, or of every group: `{ finance: 2, support-lead: 1 }`. */
    quorum: z.union([z.int().min(1), z.record(word, z.int().min(1))]).optional(),
    escalation: z.strictObject({ group: word, afterSeconds: z.int().min(1) }).optional(),
    /** What the call takes of which budget; `{}`: of none. */
    limits: z.record(word, z.strictObject({ add: count, max: count })).optional(),
  }),
});

export type GoldenCase = z.output<typeof caseSchema>;

export type CasesRead =
  | { readonly ok: true; readonly cases: readonly GoldenCase[] }
  | { readonly ok: false; readonly problems: readonly string[] };

const listSchema = z.array(caseSchema).min(1).max(10_000);

/** Reads a file of cases: a list, with strict keys, so that a misspelt expectation is an error and not one that nobody checks. */
export function readCases(text: string): CasesRead {
  const read = readManifestYaml(text);
  if (!read.ok) {
    return { ok: false, problems: read.problems.map(({ line, pointer, message }) => placed(line, pointer, message)) };
  }
  const parsed = listSchema.safeParse(read.value);
  if (parsed.success) return { ok: true, cases: parsed.data };
  const problems = parsed.error.issues.flatMap(({ path, message, ...issue }) => {
    const keys = issue.code === 'unrecognized_keys' ? issue.keys : [null];
    return keys.map((key) => {
      const pointer = pointerFrom([...path, ...(key === null ? [] : [key])].map((part) => part as string | number));
      return placed(read.lineOf(pointer), pointer, key === null ? message : 'unknown field');
    });
  });
  return { ok: false, problems };
}

/** Facts of a case as they stand in the request: the one place that a new kind of fact is added to. */
export function factsOf(request: GoldenCase['request']): JsonObject {
  const given = FACT_KEYS.filter((key) => request[key] !== undefined).map((key) => [key, request[key]] as const);
  return Object.fromEntries(given) as JsonObject;
}

function placed(line: number | null, pointer: string, message: string): string {
  return `${line === null ? '' : `${line} `}${pointer === '' ? '(list)' : pointer}: ${message}`;
}
