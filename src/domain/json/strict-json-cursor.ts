import type { StrictJsonProblem, StrictJsonReason } from './strict-json-problem.js';
import { strictJsonProblem } from './strict-json-problem.js';

/** Bounds on one JSON text. Each is inclusive: a text exactly at the limit is accepted. */
export interface JsonLimits {
  /** Size of the whole text in UTF-8 bytes. */
  readonly bytesMax: number;
  /** Arrays and objects inside one another; `[]` has depth 1, a bare scalar 0. At most `JSON_DEPTH_CEILING`. */
  readonly depthMax: number;
  /** Keys of all objects of the text together. */
  readonly keysMax: number;
  /** Length of one string or key in UTF-16 code units, after unescaping. */
  readonly stringUnitsMax: number;
}

/** Where reading is. `problem` is set once, and then every reader returns `undefined`, which no JSON value is. */
export interface Cursor {
  readonly text: string;
  readonly limits: JsonLimits;
  /** False when the text as a whole is well-formed UTF-16, so that only escapes can make half a pair. */
  readonly mayHoldRawSurrogates: boolean;
  readonly path: (string | number)[];
  at: number;
  keysRead: number;
  problem: StrictJsonProblem | null;
}

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const BACKSLASH = 0x5c;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;

/**
 * Skips the four white-space characters of RFC 8259 section 2 and returns the code unit reached, NaN at the end of the
 * text.
 */
export function nextCode(cursor: Cursor): number {
  const { text } = cursor;
  let code = text.charCodeAt(cursor.at);
  while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) {
    cursor.at += 1;
    code = text.charCodeAt(cursor.at);
  }
  return code;
}

export function refuse(cursor: Cursor, reason: StrictJsonReason, at: number = cursor.at, detail?: string): undefined {
  const offset = Buffer.byteLength(cursor.text.slice(0, at), 'utf8');
  cursor.problem = strictJsonProblem(reason, cursor.path, offset, detail);
  return undefined;
}

/**
 * `expected` is a constant of this code. A text that merely stops says so, because cut-off arguments are a failure of
 * their own.
 */
export function refuseSyntax(cursor: Cursor, expected: string, at: number = cursor.at): undefined {
  const detail = at >= cursor.text.length ? 'The JSON text ends too early.' : `Not JSON: expected ${expected}.`;
  return refuse(cursor, 'syntax', at, detail);
}
