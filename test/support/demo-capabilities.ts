/** Manifests and policies of made-up capabilities, for what the refund example does not show. */

type Json = Readonly<Record<string, unknown>>;

/** The file of a manifest, by the file's name. JSON is YAML. */
export type Files = Readonly<Record<string, string>>;

const textProperty = { type: 'string', maxLength: 200_000 };

/** A capability that nothing can be learnt about afterwards, risk low: `POST /name` of the fake tool, arguments as the body. */
export function opaqueManifest(name: string, properties: Json = { text: textProperty }, overrides: Json = {}): Files {
  return manifestFile(name, {
    effect: 'opaque',
    onAmbiguous: 'handoff',
    inputSchema: { type: 'object', additionalProperties: false, properties },
    ...overrides,
  });
}

/** The same, but its effect can be looked up by our key at `GET /effects` of the fake tool. Short clocks. */
export function probeableManifest(
  name: string,
  properties: Json = { text: textProperty },
  overrides: Json = {},
): Files {
  return opaqueManifest(name, properties, {
    effect: 'probeable',
    onAmbiguous: 'reconcile',
    idempotency: { header: 'Idempotency-Key', keyRetention: '24h' },
    probe: {
      strategy: 'query_by_idempotency_key',
      request: { method: 'GET', path: '/effects', query: { key: '{downstreamKey}' } },
      foundAt: '/data',
      statusAt: '/state',
      happenedWhen: ['done'],
      referenceAt: '/ref',
      visibilityDelay: '100ms',
      absenceIsProof: true,
      budget: '1m',
    },
    ...overrides,
  });
}

/** The tool can be asked to cancel: `POST /name.cancel`, with our key or its own reference in the body. */
export function cancelBlock(name: string, more: Json = {}): Json {
  const by = more['by'] ?? 'idempotency_key';
  const body = by === 'external_id' ? { id: '{externalRequestId}' } : { key: '{downstreamKey}' };
  const keyed = by === 'external_id' ? {} : { idempotency: { header: 'Idempotency-Key', keyRetention: '24h' } };
  return {
    ...keyed,
    cancel: { by, request: { method: 'POST', path: `/${name}.cancel`, body }, timeout: '1s', ...more },
  };
}

export function readOnlyManifest(name: string, properties: Json = { text: textProperty }, overrides: Json = {}): Files {
  const path = `/${name}`;
  return manifestFile(name, {
    effect: 'read_only',
    inputSchema: { type: 'object', additionalProperties: false, properties },
    connector: connector({ method: 'POST', path, body: '{args}' }),
    ...overrides,
  });
}

function manifestFile(name: string, rest: Json): Files {
  const manifest = {
    name,
    version: '1.0.0',
    title: `Demo ${name}`,
    description: `What ${name} does.`,
    risk: 'low',
    connector: connector({ method: 'POST', path: `/${name}`, body: '{args}' }),
    timeout: '600ms',
    quiesce: '100ms',
    concurrency: 64,
    ...rest,
  };
  return { [`${name}.yaml`]: JSON.stringify(manifest, null, 2) };
}

export function connector(request: Json): Json {
  return { kind: 'http', baseUrl: 'upstream:tool', allowAddresses: ['loopback'], request };
}

/** Harnesses may propose it. */
export function permit(name: string): Files {
  return {
    [`${name}-permit.cedar`]: `@id("${name}.permit")
permit (principal, action == Action::"${name}", resource)
when { principal.roles.contains("harness") };
`,
  };
}

/** Nobody may, whatever people say. */
export function forbid(name: string, when = 'true'): Files {
  return {
    [`${name}-forbid.cedar`]: `@id("${name}.forbid")
@reason("${name} is switched off.")
forbid (principal, action == Action::"${name}", resource)
when { ${when} };
`,
  };
}

export interface Question {
  readonly group?: string;
  readonly quorum?: number;
  /** Seconds people have. */
  readonly ttl?: number;
  readonly executionWindow?: number;
  readonly when?: string;
}

/** Harnesses may propose it, and people are asked. */
export function ask(name: string, question: Question = {}): Files {
  const { group = 'support-lead', quorum = 1, ttl, executionWindow, when = 'true' } = question;
  return {
    ...permit(name),
    [`${name}-ask.cedar`]: `@id("${name}.ask")
@on_deny("requires_confirmation")
@approvers("${group}")
@quorum("${quorum}")
@not_requester("true")
${ttl === undefined ? '' : `@approval_ttl("${ttl}")\n`}${executionWindow === undefined ? '' : `@execution_window("${executionWindow}")\n`}@reason("${name} needs people.")
forbid (principal, action == Action::"${name}", resource)
when { ${when} }
unless { context.approvals["${group}"].count >= ${quorum} && !context.approvals["${group}"].includesRequester };
`,
  };
}
