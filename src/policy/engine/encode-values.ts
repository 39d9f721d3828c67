import { isWellFormed } from '../../domain/text/well-formed.js';

/** A value the engine is given. There is no form for entities or extension values: agent data can only become plain data. */
export type EncodedValue = string | number | boolean | EncodedValue[] | { [key: string]: EncodedValue };

/** The request cannot be put to the engine: a value does not have its declared type. The message holds no value. */
export class RequestUnreadable extends Error {
  override readonly name = 'RequestUnreadable';
}

/** Half of a surrogate pair makes the engine throw, so it never gets there. */
export function text(value: unknown): string {
  if (typeof value !== 'string' || !isWellFormed(value)) throw new RequestUnreadable('a value is not well-formed text');
  return value;
}

/** Money is integer minor units; fractions and integers that a double cannot hold exactly have no form. */
export function integer(value: unknown): number {
  if (!Number.isSafeInteger(value)) throw new RequestUnreadable('a value is not a safe integer');
  return value === 0 ? 0 : (value as number);
}

export function truth(value: unknown): boolean {
  if (typeof value !== 'boolean') throw new RequestUnreadable('a value is not a boolean');
  return value;
}
