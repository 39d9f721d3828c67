import type { JsonValue } from '../../domain/json/json-value.js';

export type ParsedBody = { readonly ok: true; readonly value: JsonValue } | { readonly ok: false };

export interface OutputRules {
  /** What is wrong with an output, or null. `null` in place of the function: the capability declares no output schema. */
  readonly validateOutput: ((value: JsonValue) => string | null) | null;
  /** Strict JSON of the whole text. */
  readonly parseBody: (bytes: Uint8Array) => ParsedBody;
}

export interface OutputSource {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly bodyTruncated: boolean;
}

export type Output =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly cause: 'output_unreadable' | 'output_invalid' | 'output_truncated' };

const JSON_MEDIA_TYPE = /^[^;]*[/+]json\s*(?:;|$)/i;
const JSON_BEGINNING = /^[\t\n\r ]*[[{"]/;

/** The body as JSON, whatever it calls itself; not when it is cut off or encoded, or when the parser fails on it. */
export function parsedBody(source: OutputSource, rules: Pick<OutputRules, 'parseBody'>): ParsedBody {
  if (source.bodyTruncated || isEncoded(source)) return { ok: false };
  return attempt(() => rules.parseBody(source.body)) ?? { ok: false };
}

/**
 * The output of a successful answer. An empty body is `null`. With a declared schema only whole, valid JSON is an output. Without one
 * JSON is taken as it is, other text as a string, and bytes that are no UTF-8 as `{"base64": …}`; of a truncated body what was read. A body
 * that says or seems to be JSON and does not end like it is unreadable: half an answer must not pass for one.
 */
export function outputOf(source: OutputSource, rules: OutputRules): Output {
  const isDeclared = rules.validateOutput !== null;
  if (source.bodyTruncated) return isDeclared ? failed('output_truncated') : text(source);
  if (source.body.byteLength === 0) return validated(null, rules);
  const parsed = parsedBody(source, rules);
  if (parsed.ok)
    return isDeclared || !isScalarInText(parsed.value, source) ? validated(parsed.value, rules) : text(source);
  const isHalfAnAnswer = claimsJson(source) && !isWholeJson(source);
  return isDeclared || isHalfAnAnswer ? failed('output_unreadable') : text(source);
}

/** `42` or `null` in a body that is declared to be something else than JSON is that text. */
function isScalarInText(value: JsonValue, { headers }: OutputSource): boolean {
  const mediaType = headers['content-type'];
  return mediaType !== undefined && !JSON_MEDIA_TYPE.test(mediaType) && (typeof value !== 'object' || value === null);
}

function validated(value: JsonValue, { validateOutput }: OutputRules): Output {
  if (validateOutput === null) return { ok: true, value };
  const problem = attempt(() => ({ found: validateOutput(value) }));
  return problem?.found === null ? { ok: true, value } : failed('output_invalid');
}

/** The tool has already acted: a parser or validator that fails on its answer makes the answer unreadable, never the call lost. */
function attempt<T>(run: () => T): T | null {
  try {
    return run();
  } catch {
    return null;
  }
}

/** We ask for `identity` and do not decode; whoever encodes all the same has sent something we cannot read. */
function isEncoded({ headers }: OutputSource): boolean {
  const coding = headers['content-encoding'];
  return coding !== undefined && coding.trim().toLowerCase() !== 'identity' && coding.trim() !== '';
}

function claimsJson(source: OutputSource): boolean {
  const mediaType = source.headers['content-type'];
  if (isEncoded(source)) return false;
  if (mediaType !== undefined) return JSON_MEDIA_TYPE.test(mediaType);
  return JSON_BEGINNING.test(Buffer.from(source.body.subarray(0, 64)).toString('latin1'));
}

/** JSON that the strict parser refuses (a repeated key, a number it cannot keep) is a whole answer all the same, and is kept as text. */
function isWholeJson({ body }: OutputSource): boolean {
  const read = attempt(() => ({
    value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as unknown,
  }));
  return read !== null;
}

function text({ body, bodyTruncated }: OutputSource): Output {
  // `stream` leaves out a character that the cut went through instead of refusing it.
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const decoded = attempt(() => decoder.decode(body, { stream: bodyTruncated }));
  return { ok: true, value: decoded ?? { base64: Buffer.from(body).toString('base64') } };
}

function failed(cause: Exclude<Output, { ok: true }>['cause']): Output {
  return { ok: false, cause };
}
