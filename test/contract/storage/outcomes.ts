import type { Store } from '../../../src/storage/store.js';
import { GuardFailed } from '../../../src/storage/unit.js';
import type { Committed, Unit } from '../../../src/storage/unit.js';

/** `committed`, `guard <name>` or `error <message>`: what became of a unit, in one word to compare. */
export async function outcomeOf(promise: Promise<Committed>): Promise<string> {
  try {
    await promise;
    return 'committed';
  } catch (error) {
    if (error instanceof GuardFailed) return `guard ${error.guard}`;
    return error instanceof Error ? `error ${error.message}` : 'no error';
  }
}

/** Commits all at once and answers what became of each, in order. */
export function commitAll(store: Store, units: readonly Unit[]): Promise<string[]> {
  return Promise.all(units.map((unit) => outcomeOf(store.commit(unit))));
}

/** How many of each outcome. */
export function tally(outcomes: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}
