import { checkHeaders } from '../egress/header-policy.js';
import { isAllowEntryValid } from '../egress/address-policy.js';
import { parsePointer } from '../domain/json/json-pointer.js';
import type { JsonObject } from '../domain/json/json-value.js';
import { isJsonObject } from '../domain/json/json-value.js';
import { resolveBaseUrl } from './base-url.js';
import { callerKeyProblems } from './caller-key-rules.js';
import { cancelProblems } from './cancel-rules.js';
import { effectProblems } from './effect-rules.js';
import type { ManifestDraft } from './manifest-schema.js';
import { problemAt } from './manifest-problem.js';
import type { PlacedProblem } from './manifest-problem.js';
import { preconditionProblems } from './precondition-rules.js';
import { requestProblems } from './request-rules.js';
import { leaseProblems } from './lease-rules.js';
import { mayHaveValueAt } from './schema-lookup.js';
import { successProblems } from './success-rules.js';

/** What the settings say that a manifest may refer to. */
export interface ManifestSurroundings {
  /** Base URLs by name, for `baseUrl: upstream:NAME`. */
  readonly upstreams: Readonly<Record<string, string>>;
  /** Credentials by name, each with the header that carries it. */
  readonly credentials: Readonly<Record<string, { readonly header: string }>>;
  /** Names of the secrets that callbacks are signed with; absent: there are none. */
  readonly callbacks?: { readonly secrets: Readonly<Record<string, unknown>> };
}

/**
 * Everything wrong with a manifest that no single key shows. `inputSchema` is null when it has problems of its own, so that nothing can be
 * said about arguments.
 */
export function ruleProblems(
  draft: ManifestDraft,
  inputSchema: JsonObject | null,
  surroundings: ManifestSurroundings,
): readonly PlacedProblem[] {
  return [
    ...effectProblems(draft),
    ...cancelProblems(draft, inputSchema),
    ...connectorProblems(draft, surroundings),
    ...secretProblems(draft, surroundings),
    ...templateProblems(draft, inputSchema),
    ...keyPlaceProblems(draft, inputSchema, surroundings),
    ...statusProblems(draft),
    ...pointerProblems(draft, inputSchema),
    ...successProblems(draft),
    ...leaseProblems(draft, surroundings.upstreams),
    ...preconditionProblems(draft, inputSchema, surroundings),
  ];
}

function* connectorProblems(draft: ManifestDraft, surroundings: ManifestSurroundings): Generator<PlacedProblem> {
  const { connector } = draft;
  if (connector === undefined) return;
  const { baseUrl, allowAddresses, credential } = connector;
  const resolved = resolveBaseUrl(baseUrl, surroundings.upstreams);
  if (!resolved.ok) yield problemAt('/connector/baseUrl', resolved.message);
  else if (resolved.url.startsWith('http:') && allowAddresses.length === 0) {
    yield problemAt('/connector/baseUrl', 'public addresses need https; http is for addresses named in allowAddresses');
  }
  for (const [index, entry] of allowAddresses.entries()) {
    if (isAllowEntryValid(entry)) continue;
    yield problemAt(
      `/connector/allowAddresses/${index}`,
      'must be an address, a CIDR or a class such as loopback or private',
    );
  }
  if (credential === null) return;
  if (!Object.hasOwn(surroundings.credentials, credential)) {
    yield problemAt('/connector/credential', 'names a credential that the settings do not list under `credentials`');
    return;
  }
  const carrier = credentialHeader(draft, surroundings);
  for (const name of Object.keys(connector.request.headers)) {
    if (name.toLowerCase() === carrier)
      yield problemAt(`/connector/request/headers/${name}`, 'this header carries the credential');
  }
}

/** The probe's own credential and the callback's secret are among the settings. */
function* secretProblems(
  { probe, callback }: ManifestDraft,
  surroundings: ManifestSurroundings,
): Generator<PlacedProblem> {
  const { credentials, callbacks } = surroundings;
  const reader = probe?.credential ?? null;
  if (reader !== null && !Object.hasOwn(credentials, reader)) {
    yield problemAt('/probe/credential', 'names a credential that the settings do not list under `credentials`');
  } else if (probe && reader !== null) {
    const carrier = credentials[reader]?.header.toLowerCase();
    for (const name of Object.keys(probe.request.headers)) {
      if (name.toLowerCase() === carrier)
        yield problemAt(`/probe/request/headers/${name}`, 'this header carries the credential');
    }
  }
  if (callback && !Object.hasOwn(callbacks?.secrets ?? {}, callback.secret)) {
    yield problemAt('/callback/secret', 'names a secret that the settings do not list under `callbacks.secrets`');
  }
}

/** In lower case; null when the manifest names no credential that the settings have. */
function credentialHeader({ connector }: ManifestDraft, { credentials }: ManifestSurroundings): string | null {
  const name = connector?.credential ?? null;
  return name !== null && Object.hasOwn(credentials, name) ? (credentials[name]?.header.toLowerCase() ?? null) : null;
}

function* templateProblems(
  { connector, probe }: ManifestDraft,
  inputSchema: JsonObject | null,
): Generator<PlacedProblem> {
  if (connector !== undefined) {
    yield* requestProblems(connector.request, { inputSchema, at: '/connector/request', hasExternalRequestId: false });
  }
  if (!probe) return;
  const hasExternalRequestId = probe.strategy === 'query_by_external_id';
  yield* requestProblems(probe.request, { inputSchema, at: '/probe/request', hasExternalRequestId });
}

function* keyPlaceProblems(
  draft: ManifestDraft,
  inputSchema: JsonObject | null,
  surroundings: ManifestSurroundings,
): Generator<PlacedProblem> {
  const { connector, idempotency } = draft;
  if (idempotency === undefined) return;
  const { header, argument, callerKeyTemplate } = idempotency;
  if (callerKeyTemplate !== null) yield* callerKeyProblems(callerKeyTemplate, inputSchema);
  if (connector === undefined) return;
  if (header !== null) {
    const taken = new Set(Object.keys(connector.request.headers).map((name) => name.toLowerCase()));
    const others = ['content-type', 'accept', credentialHeader(draft, surroundings)];
    if (!checkHeaders({ [header]: 'x' }).ok || others.includes(header.toLowerCase())) {
      yield problemAt('/idempotency/header', 'this header has another use');
    }
    if (taken.has(header.toLowerCase()))
      yield problemAt('/idempotency/header', 'is set by the headers of the request too');
  }
  if (argument === null) return;
  const { body } = connector.request;
  const declared = inputSchema?.['properties'];
  if (body === '{args}') {
    if (isJsonObject(declared) && Object.hasOwn(declared, argument)) {
      yield problemAt('/idempotency/argument', 'is an argument of inputSchema too: our key would overwrite it');
    }
  } else if (!isJsonObject(body)) {
    yield problemAt('/idempotency/argument', 'needs a body that is an object');
  } else if (Object.hasOwn(body, argument)) {
    yield problemAt('/idempotency/argument', 'is a field of the body too: our key would overwrite it');
  }
}

function* statusProblems(draft: ManifestDraft): Generator<PlacedProblem> {
  const { definitiveStatus, rejectedBeforeExecutionStatus, pending } = draft;
  for (const [key, statuses] of Object.entries({ definitiveStatus, rejectedBeforeExecutionStatus })) {
    for (const [index, status] of (statuses ?? []).entries()) {
      if (status < 400)
        yield problemAt(
          `/${key}/${index}`,
          'only 400 to 599 can say that nothing was done: 2xx succeeded, 3xx is never followed',
        );
    }
  }
  for (const [index, status] of (pending?.status ?? []).entries()) {
    if (status < 200 || status > 299)
      yield problemAt(`/pending/status/${index}`, 'a pending answer has a status from 200 to 299');
  }
  const rejected = new Set(rejectedBeforeExecutionStatus);
  for (const [index, status] of (definitiveStatus ?? []).entries()) {
    if (rejected.has(status)) yield problemAt(`/definitiveStatus/${index}`, 'is in rejectedBeforeExecutionStatus too');
  }
}

function* pointerProblems(
  { redact, personal }: ManifestDraft,
  inputSchema: JsonObject | null,
): Generator<PlacedProblem> {
  if (inputSchema === null) return;
  for (const [key, pointers] of Object.entries({ redact, personal })) {
    for (const [index, pointer] of (pointers ?? []).entries()) {
      const path = parsePointer(pointer);
      if (path !== null && mayHaveValueAt(inputSchema, inputSchema, path)) continue;
      yield problemAt(
        `/${key}/${index}`,
        'names nothing that inputSchema declares (`*` stands for every item or name)',
      );
    }
  }
}
