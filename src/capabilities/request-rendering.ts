import { canonicalBytes } from '../domain/json/canonical-json.js';
import type { JsonObject, JsonValue } from '../domain/json/json-value.js';
import { isJsonObject } from '../domain/json/json-value.js';
import { argumentText, argumentValue } from './argument-text.js';
import type { Capability, Manifest, RequestTemplate } from './manifest.js';
import { percentEncoded } from './percent-encoding.js';
import { redactLeaves } from './redaction.js';
import { soleToken, templateParts } from './template-text.js';
import { renderUrl, textOf } from './url-rendering.js';
import type { TemplateValues } from './url-rendering.js';

export interface RenderedRequest {
  readonly method: RequestTemplate['method'];
  /** Absolute, in the normal form of the URL standard, below the connector's base URL. */
  readonly url: string;
  /** Names in lower case; credentials are not among them. */
  readonly headers: Readonly<Record<string, string>>;
  /** Canonical JSON (RFC 8785), so that every rendering of one call has the same bytes. */
  readonly body: Uint8Array | null;
}

export interface RequestVariables extends TemplateValues {
  readonly downstreamKey: string;
}

/** Where our key goes beside the places the template names. */
type KeyPlaces = Pick<Manifest['idempotency'], 'header' | 'argument'>;

const NO_PLACES: KeyPlaces = { header: null, argument: null };

/** The downstream key goes into headers and must survive logs: visible ASCII. */
const KEY = /^[\x21-\x7e]{1,255}$/;

/** What the request will be sent to, as the approver sees it and as the consent digest binds it. */
export interface RenderedTarget extends JsonObject {
  readonly connector: 'http';
  readonly method: string;
  readonly url: string;
}

/**
 * Renders a request of a manifest in force: the one that has the effect, or one of its probe, its cancel or its preconditions, which never carry the idempotency key in
 * the places made for the effect. Equal input gives equal bytes. Throws `CountersignError` `invalid_arguments` where a value cannot stand in the path
 * (see `renderUrl`); anything else that cannot be rendered is a broken invariant and a plain `Error`.
 */
export function renderRequest(
  { manifest }: Capability,
  template: RequestTemplate,
  variables: RequestVariables,
): RenderedRequest {
  const { connector, idempotency } = manifest;
  const { downstreamKey } = variables;
  if (!KEY.test(downstreamKey) || downstreamKey.length > idempotency.keyLengthMax) {
    throw new Error('a downstream key must be visible ASCII and no longer than the tool takes');
  }
  const places = template === connector.request ? idempotency : NO_PLACES;
  const body = renderBody(template, places, variables);
  return {
    method: template.method,
    url: renderUrl(connector, template, variables),
    headers: renderHeaders(template, body !== undefined, places, variables),
    body: body === undefined ? null : canonicalBytes(body),
  };
}

/**
 * Where a call with these arguments goes: the same for every attempt and at every time. Redacted arguments are masked in it and
 * `{downstreamKey}` stands for itself. Throws `CountersignError` `invalid_arguments` for arguments that could not be sent.
 */
export function renderTarget({ manifest }: Capability, args: JsonObject): RenderedTarget {
  const { connector } = manifest;
  const { request } = connector;
  const values = { downstreamKey: '{downstreamKey}', externalRequestId: null };
  renderUrl(connector, request, { ...values, args });
  for (const { request: reading } of manifest.preconditions ?? []) renderUrl(connector, reading, { ...values, args });
  const url = renderUrl(connector, request, { ...values, args: redactLeaves(manifest, args) });
  return { connector: connector.kind, method: request.method, url };
}

/**
 * The caller's idempotency key, derived by the manifest's template such as `refund:{args.orderId}:{intentId}`; null when the template needs
 * an intent and the caller named none. Values are percent-encoded, so that the key is visible ASCII and different values never give one
 * key. It can be longer than a key may be: check it like any other.
 */
export function renderCallerKey(template: string, args: JsonObject, intentId: string | null): string | null {
  let key = '';
  for (const part of templateParts(template)) {
    if (typeof part === 'string') key += part;
    else if (part.kind === 'argument') key += percentEncoded(argumentText(args, part));
    else if (part.kind !== 'intentId')
      throw new Error('a key template of a registered manifest holds what a key cannot have');
    else if (intentId === null) return null;
    else key += percentEncoded(intentId);
  }
  return key;
}

function renderHeaders(
  template: RequestTemplate,
  hasBody: boolean,
  { header }: KeyPlaces,
  variables: RequestVariables,
): Readonly<Record<string, string>> {
  const headers: Record<string, string> = { accept: 'application/json' };
  if (hasBody) headers['content-type'] = 'application/json';
  for (const [name, text] of Object.entries(template.headers)) {
    headers[name.toLowerCase()] = templateParts(text)
      .map((part) => (typeof part === 'string' ? part : textOf(part, variables)))
      .join('');
  }
  if (header !== null) headers[header.toLowerCase()] = variables.downstreamKey;
  return headers;
}

/** Undefined when there is no body. */
function renderBody(
  { body }: RequestTemplate,
  { argument }: KeyPlaces,
  variables: RequestVariables,
): JsonValue | undefined {
  const rendered = body === null ? undefined : renderNode(body, variables);
  if (argument === null) return rendered;
  if (!isJsonObject(rendered) || Object.hasOwn(rendered, argument)) {
    throw new Error('the body of a registered manifest has no place for the downstream key');
  }
  return { ...rendered, [argument]: variables.downstreamKey };
}

/** Undefined when the node is one argument, and that is absent. */
function renderNode(node: JsonValue, values: TemplateValues): JsonValue | undefined {
  if (typeof node === 'string') return renderText(node, values);
  if (Array.isArray(node)) {
    return (node as readonly JsonValue[]).map((item) => renderNode(item, values)).filter((item) => item !== undefined);
  }
  if (!isJsonObject(node)) return node;
  const members = Object.entries(node).flatMap(([name, child]) => {
    const value = renderNode(child, values);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(members);
}

function renderText(text: string, values: TemplateValues): JsonValue | undefined {
  const parts = templateParts(text);
  const whole = soleToken(parts);
  if (whole?.kind === 'all_arguments') return values.args;
  if (whole?.kind === 'argument') return argumentValue(values.args, whole);
  return parts.map((part) => (typeof part === 'string' ? part : textOf(part, values))).join('');
}
