import type { JsonObject, JsonValue } from '../domain/json/json-value.js';
import { isJsonObject } from '../domain/json/json-value.js';
import { pointerFrom } from '../domain/json/json-pointer.js';
import type { z } from 'zod';
import { compileArgumentSchema, compileResultSchema } from './argument-schema.js';
import type { ArgumentSchema, ResultSchema } from './argument-schema.js';
import { resolveBaseUrl } from './base-url.js';
import type { LeaseOffer, Manifest, Precondition, SuccessCriteria } from './manifest.js';
import { MANIFEST_KEYS } from './manifest-schema.js';
import type { ManifestDraft, ManifestKey } from './manifest-schema.js';
import { distinctProblems, problemAt } from './manifest-problem.js';
import type { ManifestProblem, PlacedProblem } from './manifest-problem.js';
import { ruleProblems } from './manifest-rules.js';
import type { ManifestSurroundings } from './manifest-rules.js';
import { readManifestYaml } from './manifest-yaml.js';

export type ParsedManifest =
  | {
      readonly ok: true;
      readonly manifest: Manifest;
      readonly input: ArgumentSchema;
      readonly output: ResultSchema | null;
    }
  | { readonly ok: false; readonly problems: readonly ManifestProblem[] };

/** Definitive unless the manifest says otherwise: the tool has read the request and refused it. */
export const DEFINITIVE_STATUS_DEFAULT = [400, 401, 403, 404, 405, 410, 422] as const;

/**
 * Reads one manifest: YAML text to a normalised, deeply readonly `Manifest` with its compiled schemas, or every problem found, each with
 * its place and what would be right. A key with a problem of its own does not hide problems of others.
 */
export function parseManifest(text: string, surroundings: ManifestSurroundings): ParsedManifest {
  const reading = readManifestYaml(text);
  if (!reading.ok) return reading;
  const refused = (found: readonly PlacedProblem[]): ParsedManifest => {
    const problems = distinctProblems(found).map((problem) => ({ ...problem, line: reading.lineOf(problem.pointer) }));
    return { ok: false, problems };
  };
  if (!isJsonObject(reading.value))
    return refused([problemAt('', 'a manifest is a map of keys such as name and version')]);
  const problems: PlacedProblem[] = [...keyProblems(reading.value)];
  const draft = readKeys(reading.value, problems);
  const input = draft.inputSchema === undefined ? null : compileArgumentSchema(draft.inputSchema);
  const output = draft.outputSchema ? compileResultSchema(draft.outputSchema) : null;
  for (const compiled of [input, output]) if (compiled?.ok === false) problems.push(...compiled.problems);
  problems.push(...ruleProblems(draft, input?.ok ? (draft.inputSchema ?? null) : null, surroundings));
  if (problems.length > 0 || !input?.ok || output?.ok === false) return refused(problems);
  const manifest = manifestFrom(draft as Required<ManifestDraft> as WholeDraft, surroundings);
  return { ok: true, manifest, input: input.schema, output: output?.schema ?? null };
}

function* keyProblems(document: JsonObject): Generator<PlacedProblem> {
  for (const key of Object.keys(document)) {
    if (Object.hasOwn(MANIFEST_KEYS, key)) continue;
    const message = `is not a key of a manifest; keys are ${Object.keys(MANIFEST_KEYS).join(', ')}`;
    yield problemAt(pointerFrom([key]), message);
  }
}

function readKeys(document: JsonObject, problems: PlacedProblem[]): ManifestDraft {
  const draft: Record<string, unknown> = {};
  for (const [key, schema] of Object.entries(MANIFEST_KEYS) as [ManifestKey, z.ZodType][]) {
    const value = Object.hasOwn(document, key) ? document[key] : undefined;
    const read = schema.safeParse(value);
    if (read.success) draft[key] = read.data;
    else problems.push(...read.error.issues.flatMap((issue) => problemsOf(issue, key, value)));
  }
  return draft as ManifestDraft;
}

function problemsOf(issue: z.core.$ZodIssue, key: ManifestKey, value: JsonValue | undefined): readonly PlacedProblem[] {
  const path = [key, ...issue.path.map((segment) => (typeof segment === 'number' ? segment : String(segment)))];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((name) => problemAt(pointerFrom([...path, name]), 'is not a key that is known here'));
  }
  const isMissing = valueAlong(value, path.slice(1)) === undefined;
  const expected = issue.message.replace(/^Invalid (?:input|option): /, '').replace(/, received undefined$/, '');
  return [problemAt(pointerFrom(path), isMissing ? `is missing: ${expected}` : expected)];
}

function valueAlong(value: JsonValue | undefined, path: readonly (string | number)[]): JsonValue | undefined {
  let current: JsonValue | undefined = value;
  for (const segment of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = (current as Readonly<Record<string, JsonValue>>)[segment];
  }
  return current;
}

/** A draft without problems: every key has a value. */
type WholeDraft = { readonly [K in ManifestKey]: Exclude<ManifestDraft[K], undefined> };

function manifestFrom(draft: WholeDraft, { upstreams }: ManifestSurroundings): Manifest {
  const { timeout, quiesce, definitiveStatus, connector, idempotency, probe, onAmbiguous, ...others } = draft;
  const { callback, statement, cancel, success, lease, execution, preconditions, ...rest } = others;
  const resolved = resolveBaseUrl(connector.baseUrl, upstreams);
  if (!resolved.ok) throw new Error('a base URL without a problem does not resolve');
  const { keyRetention, ...key } = idempotency;
  const rejected = new Set(draft.rejectedBeforeExecutionStatus);
  return {
    ...rest,
    connector: { ...connector, baseUrl: resolved.url, request: withLowerCaseHeaders(connector.request) },
    idempotency: { ...key, keyRetentionMs: keyRetention },
    probe: probe === null ? null : probeFrom(probe),
    callback: callback === null ? null : callbackFrom(callback),
    statement: statement === null ? null : { budgetMs: statement.budget },
    cancel: cancel === null ? null : cancelFrom(cancel),
    definitiveStatus: definitiveStatus ?? DEFINITIVE_STATUS_DEFAULT.filter((status) => !rejected.has(status)),
    timeoutMs: timeout,
    quiesceMs: quiesce,
    onAmbiguous: onAmbiguous ?? 'reconcile',
    // Left out and not null: what a manifest does not say must not change its digest.
    ...(success === null ? {} : { success: successFrom(success) }),
    ...(lease === null ? {} : { lease: leaseFrom(lease) }),
    ...(execution === null ? {} : { execution }),
    ...(preconditions === null ? {} : { preconditions: preconditions.map(preconditionFrom) }),
  };
}

function successFrom({ within, ...rest }: NonNullable<WholeDraft['success']>): SuccessCriteria {
  return { ...rest, withinMs: within };
}

function leaseFrom({ ttl, maxTtl, renewableFor, ...rest }: NonNullable<WholeDraft['lease']>): LeaseOffer {
  return { ...rest, ttlMs: ttl, ttlMsMax: maxTtl, renewableForMs: renewableFor };
}

function preconditionFrom({
  timeout,
  unchanged,
  request,
  ...rest
}: NonNullable<WholeDraft['preconditions']>[number]): Precondition {
  const withoutExpectation = rest.expect === null;
  return {
    ...rest,
    request: withLowerCaseHeaders(request),
    unchanged: unchanged ?? withoutExpectation,
    timeoutMs: timeout,
  };
}

function probeFrom({ visibilityDelay, budget, request, ...rest }: NonNullable<WholeDraft['probe']>): Manifest['probe'] {
  return { ...rest, request: withLowerCaseHeaders(request), visibilityDelayMs: visibilityDelay, budgetMs: budget };
}

function callbackFrom({ budget, ...rest }: NonNullable<WholeDraft['callback']>): Manifest['callback'] {
  return { ...rest, budgetMs: budget };
}

function cancelFrom({ timeout, request, ...rest }: NonNullable<WholeDraft['cancel']>): Manifest['cancel'] {
  return { ...rest, request: withLowerCaseHeaders(request), timeoutMs: timeout };
}

function withLowerCaseHeaders<R extends { readonly headers: Readonly<Record<string, string>> }>(request: R): R {
  const headers = Object.entries(request.headers).map(([name, text]) => [name.toLowerCase(), text] as const);
  return { ...request, headers: Object.fromEntries(headers) };
}
