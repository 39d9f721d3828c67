import type { JsonObject } from '../../domain/json/json-value.js';
import { escapeForDisplay } from '../../domain/text/escape-text.js';
import { snapshotOf, type Reading } from '../core/precondition.js';
import type { Judged } from '../judged.js';

/** What a question says about its preconditions: nothing at all where the manifest has none. */
export interface RestingOn {
  readonly shown: { readonly preconditions?: readonly JsonObject[] };
  readonly snapshot: { readonly preconditions?: readonly JsonObject[] };
}

const NOTHING: RestingOn = { shown: {}, snapshot: {} };

/** @throws Error when preconditions are declared and were not read: such a question must not be asked. */
export function restingOn({ capability, readings }: Pick<Judged, 'capability' | 'readings'>): RestingOn {
  const { preconditions } = capability.manifest;
  if (preconditions === undefined) return NOTHING;
  if (readings?.length !== preconditions.length) throw new Error('a question shows what it rests on, freshly read');
  return { shown: { preconditions: readings.map(shownReading) }, snapshot: { preconditions: snapshotOf(readings) } };
}

/** The value where it may be shown; where it may not, its digest still tells two of them apart. */
function shownReading({ name, title, observedAt, isAbsent, shown, digest }: Reading): JsonObject {
  const value: JsonObject = isAbsent ? { absent: true } : shown === undefined ? { digest } : { value: shown };
  return { name, title: escapeForDisplay(title), observedAt, ...value };
}
