import { isJsonObject, type JsonValue } from '../json/json-value.js';
import type { Reservation, ToolCallState } from './tool-call.state.js';

const NONE: readonly Reservation[] = [];

/** Reads the `reservations` of a decision; null when it made none. Throws a plain `Error` for another shape. */
export function readReservations(list: readonly JsonValue[] | null | undefined): readonly Reservation[] | null {
  if (list === undefined || list === null || list.length === 0) return null;
  return list.map((item) => {
    const { key, add, max } = isJsonObject(item) ? item : {};
    const isWhole = typeof key === 'string' && Number.isSafeInteger(add) && Number.isSafeInteger(max);
    if (!isWhole) throw new Error('a reservation is a counter, what is added and its maximum');
    return { key, add: add as number, max: max as number };
  });
}

/**
 * What the call counts for as it stands. It gives back what it took once it is proven that nothing happened, and takes it
 * again when evidence says otherwise; while nobody knows, it counts.
 */
export function heldReservations(state: ToolCallState): readonly Reservation[] {
  const reserved = state.reserved ?? NONE;
  if (reserved.length === 0 || state.contradicted) return reserved;
  switch (state.status) {
    case 'denied':
    case 'not_executed':
      return NONE;
    case 'failed':
      return state.knownEffect === 'none' ? NONE : reserved;
    case 'manual_handoff':
      return state.resolution?.finding === 'not_happened' ? NONE : reserved;
    case 'proposed':
    case 'authorized':
    case 'dispatching':
    case 'dispatched':
    case 'accepted':
    case 'result_unknown':
    case 'reconciling':
    case 'completed':
      return reserved;
  }
}
