import type { Cursor } from './strict-json-cursor.js';
import { refuse, refuseSyntax } from './strict-json-cursor.js';

const MINUS = 0x2d;
const PLUS = 0x2b;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;

/** So many decimal digits always fit into a double exactly. */
const EXACT_DIGITS_MAX = 15;

/**
 * Reads a number (RFC 8259 section 6) as the nearest IEEE 754 double, with these refusals, because a number must not
 * silently become a neighbour: `unsafe_integer` for everything whose double lies beyond ±(2^53 - 1), in whatever
 * spelling (`1e17`, `9007199254740993.0`); `number_out_of_range` for what overflows, and for what is not zero but would
 * become zero. Minus zero is read as zero.
 */
export function readNumber(cursor: Cursor): number | undefined {
  const { text } = cursor;
  const start = cursor.at;
  const isNegative = text.charCodeAt(start) === MINUS;
  const firstDigit = isNegative ? start + 1 : start;
  let at = firstDigit;
  let integer = 0;
  for (let code = text.charCodeAt(at); code >= ZERO && code <= NINE; code = text.charCodeAt(at)) {
    integer = integer * 10 + (code - ZERO);
    at += 1;
    if (code === ZERO && at === firstDigit + 1) break; // a leading zero stands alone
  }
  if (at === firstDigit) return refuseSyntax(cursor, isNegative ? 'a digit after the minus sign' : 'a value', at);
  const code = text.charCodeAt(at);
  const isPlainInteger = code !== DOT && !isExponentSign(code);
  if (isPlainInteger && at - firstDigit <= EXACT_DIGITS_MAX) {
    cursor.at = at;
    return isNegative && integer !== 0 ? -integer : integer;
  }
  const end = isPlainInteger ? at : endOfFraction(cursor, at);
  return end === undefined ? undefined : admitNumber(cursor, start, end);
}

/** `at` is on a dot or an exponent sign. Returns where the number ends. */
function endOfFraction(cursor: Cursor, start: number): number | undefined {
  const { text } = cursor;
  let at = start;
  if (text.charCodeAt(at) === DOT) {
    const digits = at + 1;
    at = endOfDigits(text, digits);
    if (at === digits) return refuseSyntax(cursor, 'a digit after the decimal point', at);
  }
  if (isExponentSign(text.charCodeAt(at))) {
    const sign = text.charCodeAt(at + 1);
    const digits = sign === PLUS || sign === MINUS ? at + 2 : at + 1;
    at = endOfDigits(text, digits);
    if (at === digits) return refuseSyntax(cursor, 'a digit in the exponent', at);
  }
  return at;
}

function admitNumber(cursor: Cursor, start: number, end: number): number | undefined {
  const spelling = cursor.text.slice(start, end);
  const value = Number(spelling);
  if (!Number.isFinite(value)) return refuse(cursor, 'number_out_of_range');
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) return refuse(cursor, 'unsafe_integer');
  if (value === 0 && /^[^eE]*[1-9]/.test(spelling)) return refuse(cursor, 'number_out_of_range');
  cursor.at = end;
  return value === 0 ? 0 : value;
}

function endOfDigits(text: string, start: number): number {
  let at = start;
  for (let code = text.charCodeAt(at); code >= ZERO && code <= NINE; code = text.charCodeAt(at)) at += 1;
  return at;
}

function isExponentSign(code: number): boolean {
  return code === 0x65 || code === 0x45;
}
