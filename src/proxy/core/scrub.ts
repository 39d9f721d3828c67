import type { JsonValue } from '../../domain/json/json-value.js';
import { originalOffset, viewsOf, type TextView } from './text-view.js';

export const REDACTED = '[redacted]';

/** Shorter values are not looked for: they occur in ordinary text by chance. No credential of use is this short. */
export const SECRET_BYTES_MIN = 4;

export interface ScrubOptions {
  /** The text was cut off at a limit: the beginning of a secret at its very end is replaced too. */
  readonly isCut?: boolean;
}

export interface Scrubber {
  /** The text with every occurrence of a secret replaced by `[redacted]`. Give it the whole text, not the chunks it came in. */
  (text: string, options?: ScrubOptions): string;
  containsSecret(text: string): boolean;
  /** A JSON value with its strings, keys and numbers scrubbed; a number that spells a secret becomes text. */
  json(value: JsonValue): JsonValue;
}

type Alphabet = 'plain' | 'base64' | 'hex';

interface Needle {
  readonly alphabet: Alphabet;
  readonly text: string;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Looks for each secret as it is, JSON-escaped, percent-encoded, in hexadecimal, and in base64 and base64url at whatever position within
 * an encoded text (`Basic` credentials encode more than the secret). Escapes may be mixed and nested. Not found are other transformations:
 * compressed, encrypted, reversed or interleaved text.
 */
export function createScrubber(secrets: readonly string[]): Scrubber {
  const needles = [...new Set(secrets)].flatMap(needlesOf);
  const shortest = Math.min(...needles.map(({ text }) => text.length));
  const scrub = (text: string, options: ScrubOptions = {}): string => {
    // A reading is never longer than what it is read from. Where the text was cut, half of a secret counts.
    if (needles.length === 0 || (text.length < shortest && options.isCut !== true)) return text;
    const whole = options.isCut === true ? withoutCutEscape(text) : text;
    const spans = viewsOf(whole).flatMap((view) => spansIn(view, needles, options.isCut === true));
    return spans.length === 0 ? text : replaceSpans(whole, spans);
  };
  const containsSecret = (text: string): boolean =>
    text.length >= shortest && readingsOf(text).some((reading) => isAnyIn(reading, needles));
  const json = (value: JsonValue): JsonValue =>
    needles.length === 0 ? value : scrubJson(value, scrub, containsSecret);
  return Object.assign(scrub, { containsSecret, json });
}

function needlesOf(secret: string): readonly Needle[] {
  const bytes = Buffer.from(secret, 'utf8');
  if (bytes.byteLength < SECRET_BYTES_MIN) return [];
  const plain = secret.includes(' ') ? [secret, secret.replaceAll(' ', '+')] : [secret];
  return [
    ...plain.map((text) => ({ alphabet: 'plain' as const, text })),
    { alphabet: 'hex', text: bytes.toString('hex') },
    ...[0, 1, 2].map((shift) => ({ alphabet: 'base64' as const, text: base64Core(bytes, shift) })),
  ];
}

/** The characters of a base64 text that depend on the secret alone, when `shift` bytes (modulo 3) stand in front of it. */
function base64Core(bytes: Buffer, shift: number): string {
  const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
  return encoded.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.byteLength) * 8) / 6));
}

/** Nearly all texts have no escapes, and then there is one reading of them. */
function readingsOf(text: string): readonly string[] {
  return text.includes('\\') || text.includes('%') ? viewsOf(text).map((view) => view.text) : [text];
}

function isAnyIn(text: string, needles: readonly Needle[]): boolean {
  const haystacks = haystacksOf(text);
  return needles.some((needle) => haystacks[needle.alphabet].includes(needle.text));
}

/** The text as it is held against needles of each alphabet. */
function haystacksOf(text: string): Readonly<Record<Alphabet, string>> {
  return {
    plain: text,
    base64: /[-_]/.test(text) ? text.replaceAll('-', '+').replaceAll('_', '/') : text,
    hex: /[A-F]/.test(text) ? text.replace(/[A-F]+/g, (letters) => letters.toLowerCase()) : text,
  };
}

function spansIn(view: TextView, needles: readonly Needle[], isCut: boolean): readonly Span[] {
  const haystacks = haystacksOf(view.text);
  const found = needles.flatMap((needle) => occurrences(haystacks[needle.alphabet], needle, isCut));
  return found.map(({ start, end }) => ({ start: originalOffset(view, start), end: originalOffset(view, end) }));
}

function occurrences(haystack: string, { alphabet, text }: Needle, isCut: boolean): readonly Span[] {
  const spans: Span[] = [];
  for (let at = haystack.indexOf(text); at !== -1; at = haystack.indexOf(text, at + 1)) {
    spans.push({ start: at, end: at + text.length });
  }
  if (isCut) {
    const length = cutLength(haystack, text);
    if (length > 0) spans.push({ start: haystack.length - length, end: haystack.length });
  }
  return alphabet === 'base64' ? spans.map((span) => withNeighbours(haystack, span)) : spans;
}

/** How much of the beginning of `text` stands at the end of `haystack`. */
function cutLength(haystack: string, text: string): number {
  for (let length = Math.min(text.length - 1, haystack.length); length >= SECRET_BYTES_MIN; length -= 1) {
    if (haystack.endsWith(text.slice(0, length))) return length;
  }
  return 0;
}

/** The characters beside a base64 core hold some bits of the secret, and the padding after it tells its length. */
function withNeighbours(haystack: string, { start, end }: Span): Span {
  const before = /[A-Za-z0-9+/]/.test(haystack.charAt(start - 1)) ? 1 : 0;
  const [after = ''] = /^[A-Za-z0-9+/]?={0,2}/.exec(haystack.slice(end, end + 3)) ?? [];
  return { start: start - before, end: end + after.length };
}

/** An escape that the cut left unfinished hides what stands before it from the readings. */
function withoutCutEscape(text: string): string {
  return text.replace(/(?:%[0-9a-fA-F]?|\\(?:u[0-9a-fA-F]{0,3})?)$/, '');
}

function replaceSpans(text: string, spans: readonly Span[]): string {
  let scrubbed = '';
  let copiedTo = 0;
  for (const { start, end } of spans.toSorted((left, right) => left.start - right.start)) {
    if (start >= copiedTo) scrubbed += text.slice(copiedTo, start) + REDACTED;
    copiedTo = Math.max(copiedTo, end);
  }
  return scrubbed + text.slice(copiedTo);
}

function scrubJson(
  value: JsonValue,
  scrub: (text: string) => string,
  containsSecret: (text: string) => boolean,
): JsonValue {
  if (typeof value === 'string') return scrub(value);
  if (typeof value === 'number') return containsSecret(String(value)) ? REDACTED : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value))
    return (value as readonly JsonValue[]).map((item) => scrubJson(item, scrub, containsSecret));
  // `fromEntries` defines properties, so no key reaches a prototype.
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [scrub(key), scrubJson(child, scrub, containsSecret)]),
  );
}
