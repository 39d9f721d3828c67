import { refuse, type Refusal } from '../errors/error-codes.js';
import { isWellFormed } from '../text/well-formed.js';
import { SESSION_CATALOGUE, type SessionEventType, type SessionRef } from './session-catalogue.js';
import type { SessionCore } from './session-core.js';

/** Of an id or a correlation that a caller gives. */
const ID_UNITS_MAX = 200;
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

interface Envelope extends Readonly<Partial<Record<SessionRef, string>>> {
  readonly correlationId?: string;
  readonly causationId?: string | null;
  readonly occurredAt?: string;
}

/** Why the fields around a payload are no texts that could stand in a row, or null. */
export function envelopeProblem(input: Envelope): Refusal | null {
  const isSound =
    isId(input.runId) &&
    isId(input.turnId) &&
    isId(input.stepId) &&
    isId(input.toolCallId) &&
    isId(input.reasoningObjectId) &&
    isId(input.skillId) &&
    isId(input.correlationId) &&
    (input.causationId === null || isId(input.causationId));
  if (!isSound) return refuse('event_schema_invalid', `ids of an event are texts of 1 to ${ID_UNITS_MAX} characters`);
  if (input.occurredAt !== undefined && !isTime(input.occurredAt)) {
    return refuse('event_schema_invalid', 'occurredAt is a time with an offset (RFC 3339)');
  }
  return null;
}

function isId(id: string | undefined): boolean {
  return id === undefined || (typeof id === 'string' && id !== '' && id.length <= ID_UNITS_MAX && isWellFormed(id));
}

const isTime = (time: string): boolean => RFC_3339.test(time) && !Number.isNaN(Date.parse(time));

/** Refers to something that the session does not know, or lacks what its type needs. */
export function referenceProblem(core: SessionCore, type: SessionEventType, input: Envelope): Refusal | null {
  for (const ref of SESSION_CATALOGUE[type].needs) {
    if (input[ref] === undefined) return refuse('dangling_reference', `${type} needs ${ref}`);
  }
  if (input.runId !== undefined && !core.runs.has(input.runId)) return unknown(type, 'runId');
  if (input.turnId !== undefined && type !== 'turn.started' && !core.turns.has(input.turnId)) {
    return unknown(type, 'turnId');
  }
  if (input.stepId !== undefined && type !== 'step.started' && !core.steps.has(input.stepId)) {
    return unknown(type, 'stepId');
  }
  if (input.toolCallId !== undefined && !core.calls.has(input.toolCallId)) return unknown(type, 'toolCallId');
  if (input.reasoningObjectId !== undefined && !core.reasoning.has(input.reasoningObjectId)) {
    return unknown(type, 'reasoningObjectId');
  }
  const cause = input.causationId;
  if (cause === undefined || cause === null || cause === core.lastEventId || core.events.has(cause)) return null;
  return unknown(type, 'causationId');
}

const unknown = (type: SessionEventType, ref: string): Refusal =>
  refuse('dangling_reference', `${ref} of ${type} names nothing in this session`);
