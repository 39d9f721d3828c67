import type { JsonValue } from './json-value.js';
import type { Cursor } from './strict-json-cursor.js';
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  nextCode,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  refuse,
  refuseSyntax,
} from './strict-json-cursor.js';
import { readNumber } from './strict-json-number.js';
import { readString } from './strict-json-string.js';

/** Reads the one value of a text, and insists that nothing but white space follows it. */
export function readDocument(cursor: Cursor): JsonValue | undefined {
  const value = readValue(cursor, 0);
  if (value === undefined) return undefined;
  return Number.isNaN(nextCode(cursor)) ? value : refuseSyntax(cursor, 'nothing after the value');
}

/** `depth` counts the containers around the value. Recursion is bounded by `limits.depthMax`, never by the stack. */
function readValue(cursor: Cursor, depth: number): JsonValue | undefined {
  switch (nextCode(cursor)) {
    case QUOTE:
      return readString(cursor);
    case OPEN_BRACE:
      return depth < cursor.limits.depthMax ? readObject(cursor, depth + 1) : refuse(cursor, 'too_deep');
    case OPEN_BRACKET:
      return depth < cursor.limits.depthMax ? readArray(cursor, depth + 1) : refuse(cursor, 'too_deep');
    case 0x74:
      return readLiteral(cursor, 'true', true);
    case 0x66:
      return readLiteral(cursor, 'false', false);
    case 0x6e:
      return readLiteral(cursor, 'null', null);
    default:
      return readNumber(cursor);
  }
}

function readLiteral<T extends boolean | null>(cursor: Cursor, word: string, value: T): T | undefined {
  const { text, at } = cursor;
  if (text.startsWith(word, at)) {
    cursor.at += word.length;
    return value;
  }
  const isCutOff = word.startsWith(text.slice(at, at + word.length));
  return refuseSyntax(cursor, 'a value', isCutOff ? text.length : at);
}

function readArray(cursor: Cursor, depth: number): JsonValue[] | undefined {
  const items: JsonValue[] = [];
  cursor.at += 1;
  if (nextCode(cursor) === CLOSE_BRACKET) {
    cursor.at += 1;
    return items;
  }
  for (;;) {
    cursor.path.push(items.length);
    const item = readValue(cursor, depth);
    if (item === undefined) return undefined;
    cursor.path.pop();
    items.push(item);
    const code = nextCode(cursor);
    if (code !== COMMA && code !== CLOSE_BRACKET) return refuseSyntax(cursor, 'a comma or a closing bracket');
    cursor.at += 1;
    if (code === CLOSE_BRACKET) return items;
  }
}

function readObject(cursor: Cursor, depth: number): Record<string, JsonValue> | undefined {
  const object: Record<string, JsonValue> = {};
  cursor.at += 1;
  if (nextCode(cursor) === CLOSE_BRACE) {
    cursor.at += 1;
    return object;
  }
  for (;;) {
    const key = readKey(cursor, object);
    if (key === undefined) return undefined;
    const value = readValue(cursor, depth);
    if (value === undefined) return undefined;
    cursor.path.pop();
    setMember(object, key, value);
    const code = nextCode(cursor);
    if (code !== COMMA && code !== CLOSE_BRACE) return refuseSyntax(cursor, 'a comma or a closing brace');
    cursor.at += 1;
    if (code === CLOSE_BRACE) return object;
  }
}

/** Reads `"key":`, judges the key, and leaves it on the path for the value that follows. */
function readKey(cursor: Cursor, object: Readonly<Record<string, JsonValue>>): string | undefined {
  if (nextCode(cursor) !== QUOTE) return refuseSyntax(cursor, 'a key in double quotes');
  const keyAt = cursor.at;
  const key = readString(cursor);
  if (key === undefined) return undefined;
  cursor.keysRead += 1;
  if (cursor.keysRead > cursor.limits.keysMax) return refuse(cursor, 'too_many_keys', keyAt);
  cursor.path.push(key);
  if (isForbiddenKey(key)) return refuse(cursor, 'forbidden_key', keyAt);
  if (object[key] !== undefined && Object.hasOwn(object, key)) return refuse(cursor, 'duplicate_key', keyAt);
  if (nextCode(cursor) !== COLON) return refuseSyntax(cursor, 'a colon after the key');
  cursor.at += 1;
  return key;
}

function isForbiddenKey(key: string): boolean {
  return key === '__proto__' || key === 'constructor' || key === 'prototype';
}

/**
 * Keys such as `toString` are inherited by every object; plain assignment to them fails where prototypes are frozen.
 */
function setMember(object: Record<string, JsonValue>, key: string, value: JsonValue): void {
  if (object[key] === undefined) object[key] = value;
  else Object.defineProperty(object, key, { value, configurable: true, enumerable: true, writable: true });
}
