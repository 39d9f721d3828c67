import { pointerFrom } from './json-pointer.js';

/** Why a text was refused. `too_large` is the one a surface answers with 413; every other one is 400 `invalid_json`. */
export type StrictJsonReason =
  | 'too_large'
  | 'invalid_utf8'
  | 'byte_order_mark'
  | 'syntax'
  | 'duplicate_key'
  | 'forbidden_key'
  | 'unsafe_integer'
  | 'number_out_of_range'
  | 'lone_surrogate'
  | 'string_too_long'
  | 'too_deep'
  | 'too_many_keys';

export interface StrictJsonProblem {
  readonly reason: StrictJsonReason;
  /**
   * RFC 6901 pointer to the offending place, made of keys and indexes only. When the full pointer would be longer than
   * `POINTER_UNITS_MAX` it names the nearest enclosing value whose pointer fits.
   */
  readonly pointer: string;
  /**
   * Where reading stopped, in bytes of the text's UTF-8 form. For `invalid_utf8` a byte of the first malformed
   * sequence.
   */
  readonly offset: number;
  /** One fixed sentence for people. It never holds anything taken from the text. */
  readonly message: string;
}

export const POINTER_UNITS_MAX = 256;

const MESSAGES: Readonly<Record<StrictJsonReason, string>> = {
  too_large: 'The JSON text is larger than the limit.',
  invalid_utf8: 'The JSON text is not valid UTF-8.',
  byte_order_mark: 'The JSON text starts with a byte order mark.',
  syntax: 'The text is not JSON.',
  duplicate_key: 'An object has the same key twice.',
  forbidden_key: 'The keys __proto__, constructor and prototype are not accepted.',
  unsafe_integer: 'A number is an integer beyond 2^53 - 1 and would be rounded; send it as a string.',
  number_out_of_range: 'A number cannot be represented: its magnitude is too large or too small.',
  lone_surrogate: 'A string holds half of a surrogate pair.',
  string_too_long: 'A string is longer than the limit.',
  too_deep: 'Arrays and objects are nested deeper than the limit.',
  too_many_keys: 'The JSON text has more keys than the limit.',
};

/**
 * `detail` may say more than the reason's own sentence; it must be a constant of this code, never text of the caller.
 */
export function strictJsonProblem(
  reason: StrictJsonReason,
  path: readonly (string | number)[],
  offset: number,
  detail: string = MESSAGES[reason],
): StrictJsonProblem {
  return { reason, pointer: boundedPointer(path), offset, message: detail };
}

function boundedPointer(path: readonly (string | number)[]): string {
  let pointer = '';
  for (const segment of path) {
    const longer = pointer + pointerFrom([segment]);
    if (longer.length > POINTER_UNITS_MAX) return pointer;
    pointer = longer;
  }
  return pointer;
}
