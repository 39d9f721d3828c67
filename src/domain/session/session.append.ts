import { refuse, type Refusal } from '../errors/error-codes.js';
import type { CauseKind } from '../events/envelope.js';
import type { Producer } from '../events/event-definition.js';
import type { JsonObject } from '../json/json-value.js';
import { envelopeProblem, referenceProblem } from './append-references.js';
import { schemaProblem } from './append-schema.js';
import { guardProblem } from './append-guard.js';
import { plainCopyOf } from './frozen-copy.js';
import { isSessionEventType, SESSION_CATALOGUE, type SessionEventType } from './session-catalogue.js';
import type { SessionCore } from './session-core.js';
import { evolveCore } from './session-core.evolve.js';
import type { SessionEvent } from './session-row.js';

/** What somebody wants appended. What is left out is filled in: references are never guessed, causes and correlation are. */
export interface NewSessionEvent {
  readonly eventType: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly runId?: string;
  readonly turnId?: string;
  readonly stepId?: string;
  readonly toolCallId?: string;
  readonly reasoningObjectId?: string;
  readonly skillId?: string;
  readonly correlationId?: string;
  /** An event of this session; null: a first cause. Left out: the event before. */
  readonly causationId?: string | null;
  readonly causeKind?: CauseKind;
  /** ISO 8601 with offset; left out: now. */
  readonly occurredAt?: string;
}

export interface AppendContext {
  readonly producer: Producer;
  readonly nextEventId: () => string;
  /** ISO 8601 with offset: now. */
  readonly at: string;
  readonly eventBytesMax: number;
  readonly holdsSecret: (payload: JsonObject) => boolean;
  /** Marks what recovery says on behalf of a dead process. */
  readonly synthetic?: true;
}

export type Appended =
  | {
      readonly ok: true;
      readonly events: readonly SessionEvent[];
      /** About the bytes that the rows take. */
      readonly bytes: number;
    }
  | (Refusal & {
      /** Which of the events was refused, from 0. */
      readonly index: number;
      readonly pointer?: string;
    });

/** What a row takes besides its payload. */
const ROW_BYTES = 400;

/**
 * Appends all of the events or none: one commit in memory, contiguous in `seq`. With `groupId` they stay together on disk too.
 * A refusal leaves no trace and uses no `seq`.
 */
export function appendToCore(
  core: SessionCore,
  inputs: readonly NewSessionEvent[],
  context: AppendContext,
  groupId: string | null = null,
): Appended {
  const [only] = inputs;
  if (inputs.length === 1 && only !== undefined) return appendOne(core, only, context, groupOf(groupId, 0, 1));
  const { headSeq, lastEventId, turn, streamCause } = core;
  const undo: (() => void)[] = [];
  core.undo = undo;
  const events: SessionEvent[] = [];
  let bytes = 0;
  try {
    for (const [index, input] of inputs.entries()) {
      const appended = appendOne(core, input, context, groupOf(groupId, index, inputs.length));
      if (!appended.ok) {
        for (const takeBack of undo.toReversed()) takeBack();
        Object.assign(core, { headSeq, lastEventId, turn, streamCause });
        return { ...appended, index };
      }
      events.push(...appended.events);
      bytes += appended.bytes;
    }
  } finally {
    core.undo = null;
  }
  return { ok: true, events, bytes };
}

type Group = Pick<SessionEvent, 'groupId' | 'groupIndex' | 'groupSize'> | null;

const groupOf = (groupId: string | null, groupIndex: number, groupSize: number): Group =>
  groupId === null ? null : { groupId, groupIndex, groupSize };

/** In the order of the rules: type, producer, schema, references, turn, plain data and size, secrets; then it is a fact. */
function appendOne(core: SessionCore, input: NewSessionEvent, context: AppendContext, group: Group): Appended {
  const { eventType: type } = input;
  if (!isSessionEventType(type)) return refused('event_type_unknown', 'no event type of that name is registered');
  const { producers } = SESSION_CATALOGUE[type];
  if (!producers.some((producer) => producer === context.producer)) {
    return refused('producer_not_allowed', `${type} is not for ${context.producer} to say`);
  }
  const refusal = schemaProblem(type, input.payload) ?? envelopeProblem(input) ?? referenceProblem(core, type, input);
  if (refusal !== null) return { ...refusal, index: 0 };
  const guard = guardProblem(core, type, input, context.producer);
  if (guard !== null) return { ...guard, index: 0 };
  const copy = plainCopyOf(input.payload);
  if (!copy.ok) {
    const pointer = `/payload${copy.pointer}`;
    return { ...refused('state_not_serializable', `${pointer} of ${type} ${copy.problem}`), pointer };
  }
  if (isTooLarge(copy.value, copy.units, context.eventBytesMax)) {
    return refused('payload_too_large', `an event has at most ${context.eventBytesMax} bytes`);
  }
  if (context.holdsSecret(copy.value)) return refused('secret_in_payload', `the payload of ${type} holds a credential`);
  const event = eventFrom(core, type, input, context, copy.value, group);
  evolveCore(core, event);
  return { ok: true, events: [event], bytes: copy.units + ROW_BYTES };
}

type Refused = Extract<Appended, { ok: false }>;
const refused = (code: Refusal['code'], message: string): Refused => ({ ...refuse(code, message), index: 0 });

/** Counts the bytes only where the units leave it open: a unit is one byte at least and three at most. */
function isTooLarge(payload: JsonObject, units: number, bytesMax: number): boolean {
  if (units * 3 <= bytesMax) return false;
  return Buffer.byteLength(JSON.stringify(payload)) > bytesMax;
}

function eventFrom(
  core: SessionCore,
  type: SessionEventType,
  input: NewSessionEvent,
  context: AppendContext,
  payload: JsonObject,
  group: Group,
): SessionEvent {
  const event: { -readonly [K in keyof SessionEvent]: SessionEvent[K] } = {
    kind: 'event',
    seq: core.headSeq + 1,
    eventId: context.nextEventId(),
    eventType: type,
    schemaVersion: SESSION_CATALOGUE[type].schemaVersion,
    producer: context.producer,
    correlationId: input.correlationId ?? correlationOf(core, input),
    causationId: null,
    causeKind: input.causeKind ?? 'external',
    occurredAt: input.occurredAt ?? context.at,
    recordedAt: context.at,
    payload,
  };
  const causationId = input.causationId === undefined ? causeOf(core, type) : input.causationId;
  if (causationId !== null) {
    event.causationId = causationId;
    event.causeKind = input.causeKind ?? 'event';
  }
  if (input.runId !== undefined) event.runId = input.runId;
  if (input.turnId !== undefined) event.turnId = input.turnId;
  if (input.stepId !== undefined) event.stepId = input.stepId;
  if (input.toolCallId !== undefined) event.toolCallId = input.toolCallId;
  if (input.reasoningObjectId !== undefined) event.reasoningObjectId = input.reasoningObjectId;
  if (input.skillId !== undefined) event.skillId = input.skillId;
  if (context.synthetic === true) event.synthetic = true;
  if ('ignorable' in SESSION_CATALOGUE[type]) event.ignorable = true;
  if (group !== null) Object.assign(event, group);
  return Object.freeze(event);
}

/** What people and the clock begin has no cause in the session. The pieces of one stream have one cause, and not each other. */
function causeOf(core: SessionCore, type: SessionEventType): string | null {
  if (type === 'session.created' || type === 'user.message') return null;
  return (type === 'assistant.delta' ? core.streamCause : null) ?? core.lastEventId;
}

const correlationOf = (core: SessionCore, { toolCallId, runId }: NewSessionEvent): string =>
  (toolCallId === undefined ? undefined : core.calls.get(toolCallId)?.correlationId) ?? runId ?? core.key.sessionId;
