import { valueAt } from '../../domain/json/json-pointer.js';
import type { JsonValue } from '../../domain/json/json-value.js';

/** How to read a callback; the manifest's `callback` has this shape. */
export interface CallbackReading {
  readonly statusAt: string;
  readonly happenedWhen: readonly string[];
  readonly failedWhen: readonly string[];
  readonly pendingWhen: readonly string[];
  readonly effectAt: string;
  readonly referenceAt: string | null;
  readonly keyAt: string | null;
}

/** `unclear`: a word that the manifest does not explain; nothing follows from it. */
export const MEANINGS = ['happened', 'failed', 'pending', 'unclear'] as const;
export type Meaning = (typeof MEANINGS)[number];

/** What evidence from outside says, and about which call. */
export interface Told {
  readonly meaning: Meaning;
  readonly effect: JsonValue;
  /** The provider's reference. */
  readonly reference: string | null;
  /** Our own key. */
  readonly key: string | null;
}

const NAME_CHARACTERS_MAX = 512;

/** Reads the body of a callback whose signature has been checked. Only words that the manifest explains mean anything. */
export function readCallback(body: JsonValue, reading: CallbackReading): Told {
  return {
    meaning: meaningOf(valueAt(body, reading.statusAt), reading),
    effect: valueAt(body, reading.effectAt) ?? null,
    reference: nameAt(body, reading.referenceAt),
    key: nameAt(body, reading.keyAt),
  };
}

function meaningOf(word: JsonValue | undefined, reading: CallbackReading): Meaning {
  if (typeof word !== 'string') return 'unclear';
  if (reading.happenedWhen.includes(word)) return 'happened';
  if (reading.failedWhen.includes(word)) return 'failed';
  return reading.pendingWhen.includes(word) ? 'pending' : 'unclear';
}

function nameAt(body: JsonValue, pointer: string | null): string | null {
  const value = pointer === null ? undefined : valueAt(body, pointer);
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : null;
  return typeof value === 'string' && value !== '' && value.length <= NAME_CHARACTERS_MAX ? value : null;
}
