import { CountersignError } from '../domain/errors/countersign-error.js';
import { pointerFrom } from '../domain/json/json-pointer.js';
import type { JsonObject } from '../domain/json/json-value.js';
import { argumentText, argumentValue, scalarText } from './argument-text.js';
import type { HttpConnector, RequestTemplate } from './manifest.js';
import { percentEncoded } from './percent-encoding.js';
import { soleToken, templateParts } from './template-text.js';
import type { Placeholder, TemplatePart } from './template-text.js';

/** What the placeholders stand for. */
export interface TemplateValues {
  readonly args: JsonObject;
  readonly downstreamKey: string;
  /** Null where nobody has told one: a template that needs it is then a broken invariant. */
  readonly externalRequestId: string | null;
}

const URL_CHARACTERS_MAX = 8_192;

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** What a server that decodes before it routes would take for a step to another directory. */
const DOT_STEP = /(?:^|[/\\])\.{1,2}(?:$|[/\\])/;

/**
 * The URL of a request: base URL, path, query. Each placeholder in the path stays within its segment, each in the query within its value.
 * Throws `CountersignError` `invalid_arguments` when a value would be an empty segment, a dot segment or a step out of the path, holds
 * control characters, or makes the URL too long; the pointer names the argument and the message never holds its value.
 */
export function renderUrl(connector: HttpConnector, request: RequestTemplate, values: TemplateValues): string {
  const base = `${connector.baseUrl}${renderPath(request.path, values)}`;
  const query = Object.entries(request.query).flatMap(([name, text]) => {
    const value = renderQueryValue(templateParts(text), values);
    return value === null ? [] : [`${percentEncoded(name)}=${value}`];
  });
  const url = query.length === 0 ? base : `${base}?${query.join('&')}`;
  if (url.length > URL_CHARACTERS_MAX) throw refusal('/arguments', 'the address that these arguments make is too long');
  // Whatever the parser would change, the approver would not have seen.
  if (!URL.canParse(url) || new URL(url).href !== url) throw new Error('a rendered URL is not in normal form');
  return url;
}

/** Around its placeholders a registered path has no dot segments, and no value that is let through can make one. */
function renderPath(path: string, values: TemplateValues): string {
  return templateParts(path)
    .map((part) => (typeof part === 'string' ? part : pathValue(part, values)))
    .join('');
}

function pathValue(token: Placeholder, values: TemplateValues): string {
  const text = textOf(token, values);
  if (text === '') throw refusal(pointerOf(token), 'must not be empty: it is a segment of the path');
  if (DOT_STEP.test(text)) throw refusal(pointerOf(token), 'must not hold dot segments: it is a segment of the path');
  if (CONTROL.test(text))
    throw refusal(pointerOf(token), 'must not hold control characters: it is a segment of the path');
  return percentEncoded(text);
}

/** Null when the value is one argument, and that is absent. */
function renderQueryValue(parts: readonly TemplatePart[], values: TemplateValues): string | null {
  const whole = soleToken(parts);
  if (whole?.kind === 'argument' && argumentValue(values.args, whole) === undefined) return null;
  return parts.map((part) => percentEncoded(typeof part === 'string' ? part : textOf(part, values))).join('');
}

/** The text of a placeholder that stands in a text. */
export function textOf(token: Placeholder, values: TemplateValues): string {
  switch (token.kind) {
    case 'argument':
      return argumentText(values.args, token);
    case 'downstreamKey':
    case 'externalRequestId':
      return scalarText(values[token.kind] ?? undefined);
    case 'all_arguments':
    case 'intentId':
      throw new Error('a template of a registered manifest holds a placeholder where it cannot stand');
  }
}

function pointerOf(token: Placeholder): string {
  return token.kind === 'argument' ? pointerFrom(['arguments', ...token.path]) : '/arguments';
}

function refusal(pointer: string, message: string): CountersignError {
  return new CountersignError('invalid_arguments', `${pointer}: ${message}`, {
    pointer,
    problems: [`${pointer}: ${message}`],
  });
}
