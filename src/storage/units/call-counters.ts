import { heldReservations } from '../../domain/tool-call/reservation.js';
import type { Reservation, ToolCallState } from '../../domain/tool-call/tool-call.state.js';
import type { CounterChange } from '../unit.js';

const NOTHING: readonly CounterChange[] = [];

/**
 * What a unit does to the budgets of its call: the difference between what the call counted for before and counts for
 * afterwards. The row of the call moves by compare-and-set, so each difference is written exactly once, however the call got there.
 *
 * Only a decision made in this unit is held against the maximum. What is given back, or taken again because evidence says that
 * it happened after all, is a fact and never refused.
 */
export function counterChanges(
  tenant: string,
  before: ToolCallState | null,
  after: ToolCallState,
): readonly CounterChange[] {
  const was = before?.reserved ?? null;
  if (was === null && after.reserved === null) return NOTHING;
  const had = before === null ? [] : heldReservations(before);
  const has = heldReservations(after);
  const isDecided = after.reserved !== was;
  const changes: CounterChange[] = [];
  for (const { key, add, max } of has) {
    const more = add - amountOf(had, key);
    if (isDecided) changes.push({ tenant, key, add: more, max });
    else if (more !== 0) changes.push({ tenant, key, add: more, max: null });
  }
  for (const { key, add } of had) {
    if (add > 0 && !has.some((kept) => kept.key === key)) changes.push({ tenant, key, add: -add, max: null });
  }
  return changes;
}

const amountOf = (reservations: readonly Reservation[], key: string): number =>
  reservations.find((reservation) => reservation.key === key)?.add ?? 0;
