import { jsonEquals } from '../domain/json/json-value.js';
import { plainCopyOf } from '../domain/session/frozen-copy.js';
import type { SessionRef } from '../domain/session/session-catalogue.js';
import type { NewSessionEvent } from '../domain/session/session.append.js';
import type { SessionEvent, SessionRow } from '../domain/session/session-row.js';

const REFS: readonly SessionRef[] = ['runId', 'turnId', 'stepId', 'toolCallId', 'reasoningObjectId', 'skillId'];

/** Whether the rows are what an append of these events made, so that asking again is the same request and no second one. */
export function isRepeat(
  rows: readonly SessionRow[],
  inputs: readonly NewSessionEvent[],
): rows is readonly SessionEvent[] {
  return rows.length === inputs.length && inputs.every((input, index) => isMade(rows[index], input));
}

function isMade(row: SessionRow | undefined, input: NewSessionEvent): boolean {
  if (row?.kind !== 'event' || row.synthetic === true || row.eventType !== input.eventType) return false;
  if (!REFS.every((ref) => row[ref] === input[ref])) return false;
  if (input.correlationId !== undefined && row.correlationId !== input.correlationId) return false;
  if (typeof input.causationId === 'string' && row.causationId !== input.causationId) return false;
  const payload = plainCopyOf(input.payload);
  return payload.ok && jsonEquals(row.payload, payload.value);
}
