import type { EventType, Producer, StreamKind } from '../../domain/events/catalogue.js';
import type { Actor, CauseKind, EventEnvelope, EventRefs } from '../../domain/events/envelope.js';

/** The columns of `events` that hold the envelope. `actor` is canonical JSON, `synthetic` 0 or 1. */
export interface EnvelopeRow {
  readonly event_id: string;
  readonly event_type: string;
  readonly schema_version: number;
  readonly tenant: string;
  readonly stream_kind: string;
  readonly stream_id: string;
  readonly version: number;
  readonly unit_id: string;
  readonly unit_index: number;
  readonly unit_size: number;
  readonly session_id: string | null;
  readonly run_id: string | null;
  readonly turn_id: string | null;
  readonly step_id: string | null;
  readonly tool_call_id: string | null;
  readonly approval_id: string | null;
  readonly policy_decision_id: string | null;
  readonly capability_id: string | null;
  readonly reasoning_object_id: string | null;
  readonly skill_id: string | null;
  readonly artifact_id: string | null;
  readonly feedback_id: string | null;
  readonly credential_lease_id: string | null;
  readonly command_id: string | null;
  readonly producer: string;
  readonly actor: string;
  readonly correlation_id: string;
  readonly causation_id: string | null;
  readonly cause_kind: string;
  readonly occurred_at: string;
  readonly recorded_at: string;
  readonly version_set_id: string;
  readonly synthetic: number;
}

/** What `events` holds besides the envelope. */
export interface EvidenceRow {
  readonly salt: Uint8Array;
  readonly payload_commitment: Uint8Array;
  readonly payload_sealed: Uint8Array;
  readonly data_key_id: string;
  readonly leaf_hash: Uint8Array;
}

export type EventRow = EnvelopeRow & EvidenceRow;

/** In the order of the table. */
export const EVENT_COLUMNS = [
  'event_id',
  'event_type',
  'schema_version',
  'tenant',
  'stream_kind',
  'stream_id',
  'version',
  'unit_id',
  'unit_index',
  'unit_size',
  'session_id',
  'run_id',
  'turn_id',
  'step_id',
  'tool_call_id',
  'approval_id',
  'policy_decision_id',
  'capability_id',
  'reasoning_object_id',
  'skill_id',
  'artifact_id',
  'feedback_id',
  'credential_lease_id',
  'command_id',
  'producer',
  'actor',
  'correlation_id',
  'causation_id',
  'cause_kind',
  'occurred_at',
  'recorded_at',
  'version_set_id',
  'synthetic',
  'salt',
  'payload_commitment',
  'payload_sealed',
  'data_key_id',
  'leaf_hash',
] as const satisfies readonly (keyof EventRow)[];

/** The reference fields of an envelope and their columns; a field that is not about anything is null. */
export const REF_COLUMNS = {
  approvalId: 'approval_id',
  artifactId: 'artifact_id',
  capabilityId: 'capability_id',
  commandId: 'command_id',
  credentialLeaseId: 'credential_lease_id',
  feedbackId: 'feedback_id',
  policyDecisionId: 'policy_decision_id',
  reasoningObjectId: 'reasoning_object_id',
  runId: 'run_id',
  sessionId: 'session_id',
  skillId: 'skill_id',
  stepId: 'step_id',
  toolCallId: 'tool_call_id',
  turnId: 'turn_id',
} as const satisfies Record<keyof EventRefs, keyof EnvelopeRow>;

const REFS = Object.entries(REF_COLUMNS) as readonly [keyof EventRefs, (typeof REF_COLUMNS)[keyof EventRefs]][];

/** The values of `EVENT_COLUMNS`, in their order; `actor` is the canonical JSON of the envelope's actor, which the writer has at hand. */
export function eventValues(
  envelope: EventEnvelope,
  actor: string,
  evidence: EvidenceRow,
): readonly (string | number | Uint8Array | null)[] {
  return [
    envelope.eventId,
    envelope.eventType,
    envelope.schemaVersion,
    envelope.tenant,
    envelope.streamKind,
    envelope.streamId,
    envelope.version,
    envelope.unitId,
    envelope.unitIndex,
    envelope.unitSize,
    envelope.sessionId ?? null,
    envelope.runId ?? null,
    envelope.turnId ?? null,
    envelope.stepId ?? null,
    envelope.toolCallId ?? null,
    envelope.approvalId ?? null,
    envelope.policyDecisionId ?? null,
    envelope.capabilityId ?? null,
    envelope.reasoningObjectId ?? null,
    envelope.skillId ?? null,
    envelope.artifactId ?? null,
    envelope.feedbackId ?? null,
    envelope.credentialLeaseId ?? null,
    envelope.commandId ?? null,
    envelope.producer,
    actor,
    envelope.correlationId,
    envelope.causationId,
    envelope.causeKind,
    envelope.occurredAt,
    envelope.recordedAt,
    envelope.versionSetId,
    envelope.synthetic === true ? 1 : 0,
    evidence.salt,
    evidence.payload_commitment,
    evidence.payload_sealed,
    evidence.data_key_id,
    evidence.leaf_hash,
  ];
}

/** The envelope that was recorded: its canonical JSON, and so its leaf hash, are those of the day it was written. */
export function envelopeFromRow(row: EnvelopeRow): EventEnvelope {
  const refs: { -readonly [K in keyof EventRefs]: EventRefs[K] } = {};
  for (const [field, column] of REFS) {
    const value = row[column];
    if (value !== null) refs[field] = value;
  }
  const own: EventEnvelope = {
    eventId: row.event_id,
    eventType: row.event_type as EventType,
    schemaVersion: row.schema_version,
    tenant: row.tenant,
    streamKind: row.stream_kind as StreamKind,
    streamId: row.stream_id,
    version: row.version,
    unitId: row.unit_id,
    unitIndex: row.unit_index,
    unitSize: row.unit_size,
    producer: row.producer as Producer,
    actor: JSON.parse(row.actor) as Actor,
    correlationId: row.correlation_id,
    causationId: row.causation_id,
    causeKind: row.cause_kind as CauseKind,
    occurredAt: row.occurred_at,
    recordedAt: row.recorded_at,
    versionSetId: row.version_set_id,
  };
  // Assigned and not spread: on Node 20 spreading objects of many keys is slow.
  return Object.assign(own, refs, row.synthetic === 1 ? { synthetic: true as const } : undefined);
}
