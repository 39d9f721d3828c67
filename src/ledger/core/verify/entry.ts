import type { EventEnvelope } from '../../../domain/events/envelope.js';
import type { JsonObject } from '../../../domain/json/json-value.js';

/** One line of `entries.ndjson` after it was read and its own hashes were checked. */
export type Entry = HiddenEntry | WithheldEntry | OpenEntry;

interface HiddenEntry {
  readonly kind: 'hidden';
  readonly position: number;
  readonly leafHash: Uint8Array;
}

export interface WithheldEntry {
  readonly kind: 'withheld';
  readonly position: number;
  readonly leafHash: Uint8Array;
  readonly envelope: EventEnvelope;
}

export interface OpenEntry {
  readonly kind: 'open';
  readonly position: number;
  readonly leafHash: Uint8Array;
  readonly envelope: EventEnvelope;
  readonly payload: JsonObject;
}

export type VisibleEntry = WithheldEntry | OpenEntry;

/** One rule over all entries: told of each in order of position, and at the end that there are no more. */
export interface EntryCheck {
  see(entry: Entry): void;
  end(): void;
}
