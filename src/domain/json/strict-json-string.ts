import { isWellFormed } from '../text/well-formed.js';
import type { Cursor } from './strict-json-cursor.js';
import { BACKSLASH, QUOTE, refuse, refuseSyntax } from './strict-json-cursor.js';

const SPACE = 0x20;
const LOWER_U = 0x75;

const SIMPLE_ESCAPES: ReadonlyMap<number, string> = new Map([
  [0x22, '"'],
  [0x5c, '\\'],
  [0x2f, '/'],
  [0x62, '\b'],
  [0x66, '\f'],
  [0x6e, '\n'],
  [0x72, '\r'],
  [0x74, '\t'],
]);

/** Reads a string or key whose opening quote is under the cursor. RFC 8259 section 7. */
export function readString(cursor: Cursor): string | undefined {
  const { text } = cursor;
  const start = cursor.at + 1;
  let end = start;
  for (;;) {
    const code = text.charCodeAt(end);
    if (code === QUOTE) break;
    if (code === BACKSLASH) return readEscapedString(cursor, start, end);
    if (!(code >= SPACE)) return refuseUnescaped(cursor, end);
    end += 1;
  }
  return admitString(cursor, text.slice(start, end), end + 1, cursor.mayHoldRawSurrogates);
}

/** The same, from the first backslash on. */
function readEscapedString(cursor: Cursor, start: number, firstBackslash: number): string | undefined {
  const { text } = cursor;
  let value = '';
  let copied = start;
  let end = firstBackslash;
  let escapedUnits = cursor.mayHoldRawSurrogates;
  for (;;) {
    const code = text.charCodeAt(end);
    if (code === QUOTE) break;
    if (code === BACKSLASH) {
      const isUnit = text.charCodeAt(end + 1) === LOWER_U;
      const character = isUnit ? hexUnit(text, end + 2) : SIMPLE_ESCAPES.get(text.charCodeAt(end + 1));
      if (character === undefined) return refuseEscape(cursor, end, isUnit ? 6 : 2);
      value += text.slice(copied, end) + character;
      end += isUnit ? 6 : 2;
      copied = end;
      escapedUnits ||= isUnit;
    } else if (!(code >= SPACE)) {
      return refuseUnescaped(cursor, end);
    } else {
      end += 1;
    }
  }
  return admitString(cursor, value + text.slice(copied, end), end + 1, escapedUnits);
}

function admitString(cursor: Cursor, value: string, next: number, mayHoldHalfPair: boolean): string | undefined {
  if (value.length > cursor.limits.stringUnitsMax) return refuse(cursor, 'string_too_long');
  if (mayHoldHalfPair && !isWellFormed(value)) return refuse(cursor, 'lone_surrogate');
  cursor.at = next;
  return value;
}

function hexUnit(text: string, at: number): string | undefined {
  const digits = text.slice(at, at + 4);
  return /^[0-9a-fA-F]{4}$/.test(digits) ? String.fromCharCode(Number.parseInt(digits, 16)) : undefined;
}

/** An escape that the end of the text cuts off is a text that ends too early, not a wrong escape. */
function refuseEscape(cursor: Cursor, at: number, units: number): undefined {
  const isCutOff = at + units > cursor.text.length;
  return refuseSyntax(cursor, 'an escape that JSON knows', isCutOff ? cursor.text.length : at);
}

function refuseUnescaped(cursor: Cursor, at: number): undefined {
  return refuseSyntax(cursor, 'control characters inside a string to be escaped', at);
}
