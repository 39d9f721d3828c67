import { isJsonObject, type JsonObject } from '../json/json-value.js';
import { redactValue } from '../redaction/redact.js';
import type { EventType, StreamKind } from './catalogue.js';
import type { Actor, CauseKind, CommittedEvent, EventEnvelope } from './envelope.js';

const WITHHELD = '[withheld]';

/** A governed event as every reader and every sink sees it: redacted arguments are masked. */
export interface EventView {
  /** Ledger index and cursor in one, dense from 0 over all tenants. */
  readonly position: number;
  readonly eventId: string;
  readonly eventType: EventType;
  readonly schemaVersion: number;
  readonly streamKind: StreamKind;
  readonly streamId: string;
  readonly version: number;
  readonly runId: string | null;
  readonly toolCallId: string | null;
  readonly approvalId: string | null;
  readonly actor: Actor;
  readonly correlationId: string;
  readonly causationId: string | null;
  readonly causeKind: CauseKind;
  readonly occurredAt: string;
  readonly recordedAt: string;
  readonly commandId?: string;
  readonly payload: JsonObject;
}

export function eventView({ position, envelope, payload }: CommittedEvent): EventView {
  return {
    position,
    eventId: envelope.eventId,
    eventType: envelope.eventType,
    schemaVersion: envelope.schemaVersion,
    streamKind: envelope.streamKind,
    streamId: envelope.streamId,
    version: envelope.version,
    runId: runOf(envelope),
    toolCallId: envelope.toolCallId ?? null,
    approvalId: envelope.approvalId ?? null,
    actor: envelope.actor,
    correlationId: envelope.correlationId,
    causationId: envelope.causationId,
    causeKind: envelope.causeKind,
    occurredAt: envelope.occurredAt,
    recordedAt: envelope.recordedAt,
    ...(envelope.commandId === undefined ? {} : { commandId: envelope.commandId }),
    payload: maskedPayload(envelope.eventType, payload),
  };
}

/** The run an event is about; null when it is about none. */
export function runOf({ runId, streamKind, streamId }: EventEnvelope): string | null {
  return runId ?? (streamKind === 'run' ? streamId : null);
}

/** Only a proposal holds arguments as they are: what an approver is shown was masked, and results were scrubbed. */
function maskedPayload(type: EventType, payload: JsonObject): JsonObject {
  // Whose redacted arguments an unmatched callback may repeat is not known, so nobody sees what it holds.
  if (type === 'evidence.received') return { ...payload, evidence: null };
  if (type === 'policy.decided') return withoutCounters(payload);
  if (type !== 'tool.call.proposed') return payload;
  const redacted = (payload['redacted'] ?? []) as readonly string[];
  return { ...payload, arguments: redactValue(payload['arguments'] as JsonObject, redacted) };
}

/** What others have spent is in the sealed record of the decision, and nobody's to read here. */
function withoutCounters(payload: JsonObject): JsonObject {
  const { request } = payload;
  if (!isJsonObject(request) || request['counters'] === undefined) return payload;
  return { ...payload, request: { ...request, counters: WITHHELD } };
}
