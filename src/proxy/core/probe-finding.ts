import { valueAt } from '../../domain/json/json-pointer.js';
import type { JsonValue } from '../../domain/json/json-value.js';
import type { Observation } from './classify-http.js';

/** How to read the answer of a look-up; the manifest's probe has this shape. */
export interface ProbeReading {
  readonly foundAt: string;
  readonly statusAt: string | null;
  readonly happenedWhen: readonly string[];
  readonly failedWhen: readonly string[];
  readonly pendingWhen: readonly string[];
  readonly referenceAt: string | null;
}

export type Finding =
  | { readonly finding: 'happened'; readonly effect: JsonValue; readonly reference: string | null }
  | { readonly finding: 'failed'; readonly effect: JsonValue; readonly reference: string | null }
  | { readonly finding: 'pending'; readonly reference: string | null }
  | { readonly finding: 'absent' }
  /** The look-up said something that the manifest does not explain, or more than one effect: nothing follows from it. */
  | { readonly finding: 'unclear' };

const NOT_FOUND = 404;

/** What a read-only look-up says about the effect. Only an answer that the manifest explains proves anything. */
export function readFinding(status: number, body: JsonValue | undefined, reading: ProbeReading): Finding {
  if (status === NOT_FOUND) return { finding: 'absent' };
  if (status < 200 || status >= 300 || body === undefined) return { finding: 'unclear' };
  const found = valueAt(body, reading.foundAt);
  if (found === undefined || found === null) return { finding: 'absent' };
  if (Array.isArray(found)) {
    const list = found as readonly JsonValue[];
    if (list.length === 0) return { finding: 'absent' };
    return list.length === 1 ? readEffect(list[0] as JsonValue, reading) : { finding: 'unclear' };
  }
  return readEffect(found, reading);
}

function readEffect(effect: JsonValue, reading: ProbeReading): Finding {
  const reference = referenceOf(effect, reading.referenceAt);
  if (reading.statusAt === null) return { finding: 'happened', effect, reference };
  const word = valueAt(effect, reading.statusAt);
  if (typeof word !== 'string') return { finding: 'unclear' };
  if (reading.happenedWhen.includes(word)) return { finding: 'happened', effect, reference };
  if (reading.failedWhen.includes(word)) return { finding: 'failed', effect, reference };
  if (reading.pendingWhen.includes(word)) return { finding: 'pending', reference };
  return { finding: 'unclear' };
}

function referenceOf(effect: JsonValue, pointer: string | null): string | null {
  const value = pointer === null ? undefined : valueAt(effect, pointer);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}

/**
 * What a repetition of the identical request says. A tool that remembers the key answers what it answered the first time;
 * a refusal may be about the repetition alone, so it proves nothing.
 */
export function readReplay(observation: Observation): Finding {
  switch (observation.class) {
    case 'completed':
      return { finding: 'happened', effect: observation.output, reference: null };
    case 'accepted':
      return { finding: 'pending', reference: observation.externalRequestId };
    case 'rejected':
    case 'not_sent':
    case 'unknown':
      return { finding: 'unclear' };
  }
}
