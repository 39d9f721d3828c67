import { createHash } from 'node:crypto';

/** The shortest run of base64 that is looked at when nothing else says what it is. */
export const MEDIA_UNITS_MIN = 512;
const KNOWN_MEDIA_UNITS_MIN = 64;
const HEAD_BYTES = 12;
const DISTINCT_MIN = 32;
const DISTINCT_SAMPLE = 2_048;
const WRAPPED_LINES: readonly number[] = [64, 76];

/** What the first bytes of a format look like in base64. */
const MAGIC: readonly (readonly [string, string])[] = [
  ['iVBORw0KGg', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGODdh', 'image/gif'],
  ['R0lGODlh', 'image/gif'],
  ['UklGR', 'application/riff'],
  ['SUQz', 'audio/mpeg'],
  ['T2dnUw', 'audio/ogg'],
  ['ZkxhQ', 'audio/flac'],
  ['GkXfo', 'video/webm'],
  ['JVBERi0', 'application/pdf'],
];

const DECLARED = /data:([\w.+-]{1,80}\/[\w.+-]{1,80})?(?:;[\w.+=-]{1,80}){0,4},$/u;
const DECLARED_UNITS_MAX = 600;
const MEDIA_TYPE = /^[\w.+-]{1,80}\/[\w.+-]{1,80}$/u;

/**
 * Whether a text has a stretch of base64 that is long enough to be looked at; one that goes on over line breaks has a first line of
 * at least as many. Such a stretch holds a place of every so many, so only those are looked at, and what is around them.
 */
export function hasLongRun(text: string): boolean {
  for (let at = KNOWN_MEDIA_UNITS_MIN - 1; at < text.length; at += KNOWN_MEDIA_UNITS_MIN) {
    if (!isBase64(text.charCodeAt(at))) continue;
    let from = at;
    while (from > 0 && isBase64(text.charCodeAt(from - 1))) from -= 1;
    let end = at + 1;
    while (end < text.length && end - from < KNOWN_MEDIA_UNITS_MIN && isBase64(text.charCodeAt(end))) end += 1;
    if (end - from >= KNOWN_MEDIA_UNITS_MIN) return true;
  }
  return false;
}

/**
 * What stands for media: enough to see what it was and that two are the same. The type is what the first bytes tell;
 * `declared` counts only where they tell nothing.
 */
export function mediaPlaceholder(bytes: Uint8Array, declared: unknown): string {
  const digest = createHash('sha256').update(bytes).digest('hex');
  const named = typeof declared === 'string' && MEDIA_TYPE.test(declared) ? declared : 'application/octet-stream';
  const head = Buffer.from(bytes.subarray(0, HEAD_BYTES)).toString('base64');
  return `[left out: ${knownType(head) ?? named}, ${bytes.length} bytes, sha256:${digest}]`;
}

/**
 * The text with every stretch of base64 that is binary replaced by its placeholder; the same text when there is none. What it
 * is, is judged by its bytes; `declared` only names a type that the bytes do not tell. Takes time in proportion to the text.
 */
export function stripMediaText(text: string, declared?: unknown): string {
  if (text.length < KNOWN_MEDIA_UNITS_MIN) return text;
  let kept = '';
  let copiedTo = 0;
  for (let at = 0; at < text.length;) {
    const end = endOfRun(text, at);
    if (end - at < KNOWN_MEDIA_UNITS_MIN) {
      at = Math.max(end, at + 1);
      continue;
    }
    const lead = leadOf(text, copiedTo, at);
    const run = text.slice(at, end);
    if (isMedia(run, lead?.mediaType)) {
      const bytes = Buffer.from(run, 'base64');
      kept += text.slice(copiedTo, at - (lead?.units ?? 0)) + mediaPlaceholder(bytes, lead?.mediaType ?? declared);
      copiedTo = end;
    }
    at = end;
  }
  return copiedTo === 0 ? text : kept + text.slice(copiedTo);
}

/** Where base64 that begins here ends. Line breaks belong to it where all its lines have the length that wrapping gives. */
function endOfRun(text: string, from: number): number {
  let at = from;
  let lineFrom = from;
  for (; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (isBase64(unit)) continue;
    const isWrap = unit === 10 || unit === 13;
    if (!isWrap) break;
    if (at > lineFrom && !WRAPPED_LINES.includes(at - lineFrom)) break;
    lineFrom = at + 1;
  }
  return at;
}

/** Letters, digits, `+`, `/`, `-`, `_` and the padding. */
function isBase64(unit: number): boolean {
  return (
    (unit >= 97 && unit <= 122) ||
    (unit >= 65 && unit <= 90) ||
    (unit >= 47 && unit <= 57) ||
    unit === 43 ||
    unit === 45 ||
    unit === 95 ||
    unit === 61
  );
}

/** `data:image/png;base64,` directly in front of the run. */
function leadOf(text: string, from: number, at: number): { mediaType: string | undefined; units: number } | null {
  if (text.charCodeAt(at - 1) !== 44) return null;
  const found = DECLARED.exec(text.slice(Math.max(from, at - DECLARED_UNITS_MAX), at));
  return found === null ? null : { mediaType: found[1], units: found[0].length };
}

function isMedia(run: string, inUrl: string | undefined): boolean {
  if (knownType(run) !== undefined || (inUrl !== undefined && !inUrl.startsWith('text/'))) return true;
  return run.length >= MEDIA_UNITS_MIN && looksRandom(run);
}

function knownType(base64: string): string | undefined {
  return MAGIC.find(([start]) => base64.startsWith(start))?.[1];
}

/** Words, hexadecimal digits and repeated letters are no binary data. */
function looksRandom(run: string): boolean {
  const sample = run.slice(0, DISTINCT_SAMPLE);
  return new Set(sample).size >= DISTINCT_MIN && /[a-z]/u.test(sample) && /[A-Z]/u.test(sample) && /\d/u.test(sample);
}
