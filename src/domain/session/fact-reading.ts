import type { JsonObject, JsonValue } from '../json/json-value.js';
import { isJsonObject } from '../json/json-value.js';
import type { SessionFact } from './session-row.js';

/**
 * What reducers read out of facts. Payloads of harnesses are theirs, and governed ones may be erased: a field that is not there
 * or of another form reads as absent, so that no history can stop a session from being read.
 */
export interface ReadFact {
  readonly type: string;
  readonly eventId: string;
  readonly seq: number;
  readonly occurredAt: string;
  readonly payload: JsonObject;
  readonly refs: FactRefs;
}

export interface FactRefs {
  readonly runId?: string | undefined;
  readonly turnId?: string | undefined;
  readonly stepId?: string | undefined;
  readonly toolCallId?: string | undefined;
  readonly approvalId?: string | undefined;
  readonly policyDecisionId?: string | undefined;
  readonly capabilityId?: string | undefined;
  readonly reasoningObjectId?: string | undefined;
  readonly artifactId?: string | undefined;
  readonly feedbackId?: string | undefined;
}

const ERASED: JsonObject = {};

export function readFact(fact: SessionFact): ReadFact {
  const { eventId, seq } = fact;
  if (fact.kind === 'event') {
    return { type: fact.eventType, eventId, seq, occurredAt: fact.occurredAt, payload: fact.payload, refs: fact };
  }
  const { envelope } = fact;
  const runId = envelope.runId ?? (envelope.streamKind === 'run' ? envelope.streamId : undefined);
  const isOfCall = envelope.streamKind === 'call' || envelope.streamKind === 'outcome';
  const toolCallId = envelope.toolCallId ?? (isOfCall ? envelope.streamId : undefined);
  const approvalId = envelope.approvalId ?? (envelope.streamKind === 'approval' ? envelope.streamId : undefined);
  return {
    type: envelope.eventType,
    eventId,
    seq,
    occurredAt: envelope.occurredAt,
    payload: fact.payload ?? ERASED,
    refs: { ...envelope, runId, toolCallId, approvalId },
  };
}

export function textIn(payload: JsonObject, name: string): string | undefined {
  const value = payload[name];
  return typeof value === 'string' ? value : undefined;
}

export function countIn(payload: JsonObject, name: string): number | undefined {
  const value = payload[name];
  return Number.isSafeInteger(value) ? (value as number) : undefined;
}

export function objectIn(payload: JsonObject, name: string): JsonObject | undefined {
  const value = payload[name];
  return isJsonObject(value) ? value : undefined;
}

export function listIn(payload: JsonObject, name: string): readonly JsonValue[] {
  const value = payload[name];
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [];
}

export function textsIn(payload: JsonObject, name: string): readonly string[] {
  return listIn(payload, name).filter((item) => typeof item === 'string');
}
