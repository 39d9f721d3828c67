import { checkHeaders } from '../egress/header-policy.js';
import type { HeaderProblem } from '../egress/header-policy.js';
import { pointerFrom } from '../domain/json/json-pointer.js';
import type { JsonObject, JsonValue } from '../domain/json/json-value.js';
import { isJsonObject } from '../domain/json/json-value.js';
import type { RequestTemplate } from './manifest.js';
import { problemAt } from './manifest-problem.js';
import type { PlacedProblem } from './manifest-problem.js';
import { declaredArgument, isScalarSchema } from './schema-lookup.js';
import { parseTemplate, placeholderText, soleToken } from './template-text.js';
import type { Placeholder, TemplatePart } from './template-text.js';

/** What the templates of one request may refer to. */
export interface RequestContext {
  /** The input schema, or null when it has problems of its own and nothing can be said about arguments. */
  readonly inputSchema: JsonObject | null;
  /** Pointer of the request in the manifest. */
  readonly at: string;
  /** True only for a probe by the provider's reference. */
  readonly hasExternalRequestId: boolean;
}

/** The characters of RFC 3986 `pchar` and the slash, without percent-encoding: what is meant is written as it is. */
const PATH_LITERAL = /^[A-Za-z0-9\-._~!$&'()*+,;=:@/]*$/;

const JSON_CONTENT_TYPE = /^application\/(?:[a-z0-9!#$&^_.-]{1,64}\+)?json$/;

const HEADER_MESSAGES: Readonly<Record<HeaderProblem, string>> = {
  header_name: 'is not the name of a header',
  header_value: 'holds characters that a header cannot have',
  header_forbidden: 'belongs to the connection and cannot be set',
  header_needs_credential: 'can only come from a credential: name one as `connector.credential`',
  header_repeated: 'is set twice',
  headers_too_large: 'is too large',
};

type Say = (path: readonly (string | number)[], message: string) => void;

/**
 * Everything that keeps a request template from being rendered for every possible arguments: placeholders that do not exist or may be
 * absent where absence has no form, arguments in headers, paths that could become another path, headers that belong to the transport.
 */
export function requestProblems(request: RequestTemplate, context: RequestContext): readonly PlacedProblem[] {
  const problems: PlacedProblem[] = [];
  const say: Say = (path, message) => void problems.push(problemAt(context.at + pointerFrom(path), message));
  checkPath(request.path, context, say);
  for (const [name, value] of Object.entries(request.query)) {
    if (/[{}]/.test(name)) say(['query', name], 'the name of a parameter cannot hold a placeholder');
    const parts = partsOf(value, ['query', name], say);
    const mayBeAbsent = soleToken(parts) !== null;
    for (const token of tokens(parts)) checkTextToken(token, mayBeAbsent, context, ['query', name], say);
  }
  checkRequestHeaders(request, say);
  if (request.body !== null && request.method === 'GET') say(['body'], 'a GET has no body');
  else if (request.body !== null) checkBody(request.body, ['body'], 'always', context, say);
  return problems;
}

/** True when the placeholder stands anywhere in the request. */
export function usesPlaceholder(request: RequestTemplate, kind: Placeholder['kind']): boolean {
  const texts = [
    request.path,
    ...Object.values(request.query),
    ...Object.values(request.headers),
    ...textsIn(request.body),
  ];
  return texts.some((text) => {
    const parsed = parseTemplate(text);
    return parsed.ok && tokens(parsed.parts).some((token) => token.kind === kind);
  });
}

function textsIn(value: JsonValue): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value as JsonObject).flatMap(textsIn) : [];
}

function partsOf(text: string, path: readonly (string | number)[], say: Say): readonly TemplatePart[] {
  const parsed = parseTemplate(text);
  if (parsed.ok) return parsed.parts;
  say(path, parsed.message);
  return [];
}

function tokens(parts: readonly TemplatePart[]): readonly Placeholder[] {
  return parts.filter((part) => typeof part === 'object');
}

function checkPath(path: string, context: RequestContext, say: Say): void {
  const here = ['path'];
  const parts = partsOf(path, here, say);
  if (!path.startsWith('/')) say(here, 'must begin with a slash');
  if (parts.some((part) => typeof part === 'string' && !PATH_LITERAL.test(part))) {
    say(here, 'holds characters a path cannot have; queries belong into `query`');
  }
  const segments = parts
    .map((part) => (typeof part === 'string' ? part : 'x'))
    .join('')
    .split('/')
    .slice(1);
  if (segments.slice(0, -1).includes('')) say(here, 'must not have empty segments');
  if (segments.some((segment) => segment === '.' || segment === '..')) say(here, 'must not have dot segments');
  for (const token of tokens(parts)) checkTextToken(token, false, context, here, say);
}

/** A placeholder that becomes text: it must have exactly one text, and always, unless its whole place may be left out. */
function checkTextToken(
  token: Placeholder,
  mayBeAbsent: boolean,
  context: RequestContext,
  path: readonly (string | number)[],
  say: Say,
): void {
  if (!isKnownHere(token, context, path, say)) return;
  if (token.kind === 'all_arguments') return say(path, 'all arguments together have no text: name one');
  if (token.kind !== 'argument') return;
  const declared = declaredHere(token, context, path, say);
  if (declared === null) return;
  if (!isScalarSchema(declared.schema)) {
    say(path, `${placeholderText(token)} must be declared as a text, number or boolean to stand in a text`);
  }
  if (!declared.isAlwaysPresent && !mayBeAbsent) {
    say(path, `${placeholderText(token)} may be absent here: make it required or give it a default`);
  }
}

function isKnownHere(
  token: Placeholder,
  context: RequestContext,
  path: readonly (string | number)[],
  say: Say,
): boolean {
  if (token.kind === 'intentId') say(path, '{intentId} is for `callerKeyTemplate` only');
  else if (token.kind === 'externalRequestId' && !context.hasExternalRequestId) {
    say(path, '{externalRequestId} is known only to a probe with strategy query_by_external_id');
  } else return true;
  return false;
}

function declaredHere(
  token: Placeholder & { readonly kind: 'argument' },
  { inputSchema }: RequestContext,
  path: readonly (string | number)[],
  say: Say,
): ReturnType<typeof declaredArgument> {
  if (inputSchema === null) return null;
  const declared = declaredArgument(inputSchema, token.path);
  if (declared === null) say(path, `${placeholderText(token)} is not among the properties of inputSchema`);
  return declared;
}

function checkRequestHeaders({ headers, body }: RequestTemplate, say: Say): void {
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    const here = ['headers', name];
    const parts = partsOf(value, here, say);
    for (const token of tokens(parts)) {
      if (token.kind !== 'downstreamKey')
        say(here, 'a header holds fixed text and {downstreamKey}, nothing an agent can set');
    }
    const sample = parts.map((part) => (typeof part === 'string' ? part : 'x')).join('');
    const checked = checkHeaders({ [name]: sample });
    if (!checked.ok) say(here, HEADER_MESSAGES[checked.problem]);
    if (seen.has(name.toLowerCase())) say(here, HEADER_MESSAGES.header_repeated);
    seen.add(name.toLowerCase());
    if (name.toLowerCase() === 'content-type' && (body === null || !JSON_CONTENT_TYPE.test(sample))) {
      say(here, 'bodies are JSON: leave it out, or use application/json or a type that ends in +json');
    }
  }
}

/** `absence`: whether an argument that is absent can be left out here. */
function checkBody(
  template: JsonValue,
  path: readonly (string | number)[],
  absence: 'always' | 'droppable',
  context: RequestContext,
  say: Say,
): void {
  if (typeof template === 'string') return checkBodyText(template, path, absence, context, say);
  if (Array.isArray(template)) {
    for (const [index, item] of (template as readonly JsonValue[]).entries())
      checkBody(item, [...path, index], 'always', context, say);
  } else if (isJsonObject(template)) {
    for (const [name, child] of Object.entries(template)) {
      if (/[{}]/.test(name)) say([...path, name], 'the name of a field cannot hold a placeholder');
      checkBody(child, [...path, name], 'droppable', context, say);
    }
  }
}

function checkBodyText(
  text: string,
  path: readonly (string | number)[],
  absence: 'always' | 'droppable',
  context: RequestContext,
  say: Say,
): void {
  const parts = partsOf(text, path, say);
  const whole = soleToken(parts);
  if (whole === null || (whole.kind !== 'argument' && whole.kind !== 'all_arguments')) {
    for (const token of tokens(parts)) checkTextToken(token, false, context, path, say);
    return;
  }
  if (whole.kind === 'all_arguments') return;
  const declared = declaredHere(whole, context, path, say);
  if (declared !== null && !declared.isAlwaysPresent && absence === 'always') {
    say(
      path,
      `${placeholderText(whole)} may be absent, and here nothing can be left out: make it required or give it a default`,
    );
  }
}
