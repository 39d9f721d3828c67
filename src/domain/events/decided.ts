import type { Refusal } from '../errors/error-codes.js';
import type { DomainEvent } from './catalogue.js';

/** The answer of a pure rule: what is now true, in the order in which it is to be recorded, or why nothing is. */
export type Decided<E extends DomainEvent = DomainEvent> =
  { readonly ok: true; readonly events: readonly E[] } | Refusal;

/** No events at all is an answer too: what was asked for is true already. */
export function decided<const T extends readonly DomainEvent[]>(
  ...events: T
): { ok: true; events: readonly T[number][] } {
  return { ok: true, events };
}

/**
 * For what no history and no user can bring about, only a mistake in our own code: a plain `Error` that stops the work.
 * The sentence holds no values.
 */
export function mustHold(condition: boolean, otherwise: string): asserts condition {
  if (!condition) throw new Error(`broken invariant: ${otherwise}`);
}
