import type { EventPayload } from '../../domain/events/catalogue.js';
import { canonicalJson } from '../../domain/json/canonical-json.js';
import type { JsonValue } from '../../domain/json/json-value.js';
import type { PolicyDecision } from './policy-types.js';

export type RecordedDecision = EventPayload<'policy.decided'>;

/**
 * `erased`: what the decision could read has been destroyed with the key of its session. `unknown_revision`: the set was
 * not kept. `engine_version`: this engine, or this program, makes another set of the same texts.
 */
export type NotReplayable = 'erased' | 'unknown_revision' | 'engine_version';

export interface Difference {
  readonly field: string;
  readonly recorded: JsonValue;
  readonly replayed: JsonValue;
}

export type ReplayAnswer =
  | { readonly answer: 'same' }
  | { readonly answer: 'different'; readonly differences: readonly Difference[] }
  | { readonly answer: 'not_replayable'; readonly reason: NotReplayable };

/** Whether the engine says again what was recorded. The request's digest among it: both must have judged the same bytes. */
export function compareDecisions(recorded: RecordedDecision, replayed: PolicyDecision): ReplayAnswer {
  const pairs: readonly (readonly [string, unknown, unknown])[] = [
    ['requestDigest', recorded.requestDigest, replayed.requestDigest],
    ['outcome', recorded.outcome, replayed.outcome],
    ['determining', recorded.determining, replayed.determining],
    ['reasons', recorded.reasons, replayed.reasons],
    ['obligations', recorded.obligations ?? null, replayed.obligations],
    ['engineErrors', recorded.engineErrors ?? [], replayed.engineErrors],
  ];
  const differences = pairs
    .map(([field, before, now]) => ({ field, recorded: before as JsonValue, replayed: now as JsonValue }))
    .filter(({ recorded: before, replayed: now }) => canonicalJson(before) !== canonicalJson(now));
  return differences.length === 0 ? { answer: 'same' } : { answer: 'different', differences };
}
