import { isWellFormed } from '../text/well-formed.js';
import type { JsonObject, JsonValue } from './json-value.js';
import { jsonEquals } from './json-value.js';

/** Far beyond what the strict parser lets in. A cycle always runs into it, so no book is kept of the objects seen. */
export const CANONICAL_DEPTH_MAX = 1_000;

/** Up to this length looking at each code unit is faster than a regular expression; beyond it the expression wins. */
const SCAN_UNITS_MAX = 48;

/** Insertion sort beats the built-in up to about this many keys. */
const INSERTION_KEYS_MAX = 24;

const NEEDS_CARE = /[\u0000-\u001f"\\\ud800-\udfff]/;

const UTF8 = new TextEncoder();

/**
 * The canonical text of a JSON value: RFC 8785 (JCS). Keys in order of UTF-16 code units, numbers as ECMAScript writes
 * them, only the escapes JSON demands, no white space, no normalisation. Equal values have equal text whatever the
 * order of their keys.
 *
 * `toJSON` is data like any other key and is never called. Throws a plain `Error` on everything that is not JSON:
 * undefined (also as a member or a hole), NaN, Infinity, bigint, functions, symbols, instances of classes (Date and Map
 * included), half surrogate pairs, cycles and nesting beyond `CANONICAL_DEPTH_MAX`. No message holds a value.
 */
export function canonicalJson(value: JsonValue): string {
  return writeValue(value, 0);
}

/** UTF-8 bytes of `canonicalJson(value)`, in memory of their own. Errors as there. */
export function canonicalBytes(value: JsonValue): Uint8Array {
  return UTF8.encode(writeValue(value, 0));
}

/**
 * `canonicalJson`, and the text is parsed again and compared with the value: for what is hashed for ever. Throws a
 * plain `Error` when they differ, which no JSON value does. Costs about as much again as two plain calls.
 */
export function verifiedCanonicalJson(value: JsonValue): string {
  const text = writeValue(value, 0);
  if (!jsonEquals(JSON.parse(text) as JsonValue, value)) throw new Error('canonical JSON does not parse to its value');
  return text;
}

function writeValue(value: unknown, depth: number): string {
  switch (typeof value) {
    case 'string':
      return writeString(value);
    case 'number':
      return writeNumber(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      if (value === null) return 'null';
      if (depth >= CANONICAL_DEPTH_MAX) throw new Error('not JSON: nested too deep, or a cycle');
      return Array.isArray(value) ? writeArray(value, depth + 1) : writeObject(value as JsonObject, depth + 1);
    case 'undefined':
    case 'bigint':
    case 'function':
    case 'symbol':
      throw new Error(`not JSON: ${typeof value}`);
  }
}

/** RFC 8785 section 3.2.2.3. Minus zero is written as `0`. */
function writeNumber(value: number): string {
  if (!Number.isFinite(value)) throw new Error('not JSON: a number that is not finite');
  return `${value}`;
}

/** RFC 8785 section 3.2.2.2. For well-formed text the escapes of `JSON.stringify` are exactly those of the RFC. */
function writeString(text: string): string {
  if (!needsCare(text)) return `"${text}"`;
  if (!isWellFormed(text)) throw new Error('not JSON: half of a surrogate pair');
  return JSON.stringify(text);
}

function needsCare(text: string): boolean {
  const { length } = text;
  if (length > SCAN_UNITS_MAX) return NEEDS_CARE.test(text);
  for (let at = 0; at < length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code === 0x22 || code === 0x5c || (code >= 0xd800 && code <= 0xdfff)) return true;
  }
  return false;
}

function writeArray(items: readonly unknown[], depth: number): string {
  const { length } = items;
  if (length === 0) return '[]';
  let text = `[${writeValue(items[0], depth)}`;
  for (let index = 1; index < length; index += 1) text += `,${writeValue(items[index], depth)}`;
  return `${text}]`;
}

function writeObject(object: JsonObject, depth: number): string {
  if (!isPlainObject(object)) throw new Error('not JSON: an instance of a class');
  const keys = sortedKeys(object);
  let text = '';
  let separator = '{';
  for (const key of keys) {
    text += `${separator}${writeString(key)}:${writeValue(object[key], depth)}`;
    separator = ',';
  }
  return text === '' ? '{}' : `${text}}`;
}

/**
 * An object of another realm (a worker, a sandbox) has that realm's `Object.prototype`, which inherits from nothing.
 */
function isPlainObject(object: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype === Object.prototype || prototype === null) return true;
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, 'isPrototypeOf');
}

/** RFC 8785 section 3.2.3: `<` on strings, like the built-in sort, compares UTF-16 code units. */
function sortedKeys(object: JsonObject): string[] {
  const keys = Object.keys(object);
  if (keys.length > INSERTION_KEYS_MAX) return keys.sort();
  for (let next = 1; next < keys.length; next += 1) {
    const key = keys[next] as string;
    let at = next - 1;
    while (at >= 0 && (keys[at] as string) > key) {
      keys[at + 1] = keys[at] as string;
      at -= 1;
    }
    keys[at + 1] = key;
  }
  return keys;
}
