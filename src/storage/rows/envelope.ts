import type { EventEnvelope, NewEvent, StreamRef } from '../../domain/events/envelope.js';
import type { Unit } from '../unit.js';

/** What the writer knows of an event besides the event: its place and its time. */
export interface EventPlace {
  readonly unit: Pick<Unit, 'unitId' | 'tenant'>;
  readonly unitIndex: number;
  readonly unitSize: number;
  readonly stream: StreamRef;
  readonly version: number;
  readonly schemaVersion: number;
  readonly recordedAt: string;
  readonly versionSetId: string;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * The envelope of an event at its place. Keys are added in the order in which canonical JSON wants them, so that writing it does not
 * sort; references that are undefined are left out, because "not about one" has no column value and no member.
 */
export function envelopeOf(event: NewEvent, place: EventPlace): EventEnvelope {
  const { refs } = event;
  const envelope = { actor: event.actor } as Mutable<EventEnvelope>;
  if (refs.approvalId !== undefined) envelope.approvalId = refs.approvalId;
  if (refs.artifactId !== undefined) envelope.artifactId = refs.artifactId;
  if (refs.capabilityId !== undefined) envelope.capabilityId = refs.capabilityId;
  envelope.causationId = event.causationId;
  envelope.causeKind = event.causeKind;
  if (refs.commandId !== undefined) envelope.commandId = refs.commandId;
  envelope.correlationId = event.correlationId;
  if (refs.credentialLeaseId !== undefined) envelope.credentialLeaseId = refs.credentialLeaseId;
  envelope.eventId = event.eventId;
  envelope.eventType = event.type;
  if (refs.feedbackId !== undefined) envelope.feedbackId = refs.feedbackId;
  envelope.occurredAt = event.occurredAt;
  if (refs.policyDecisionId !== undefined) envelope.policyDecisionId = refs.policyDecisionId;
  envelope.producer = event.producer;
  if (refs.reasoningObjectId !== undefined) envelope.reasoningObjectId = refs.reasoningObjectId;
  envelope.recordedAt = place.recordedAt;
  if (refs.runId !== undefined) envelope.runId = refs.runId;
  envelope.schemaVersion = place.schemaVersion;
  if (refs.sessionId !== undefined) envelope.sessionId = refs.sessionId;
  if (refs.skillId !== undefined) envelope.skillId = refs.skillId;
  if (refs.stepId !== undefined) envelope.stepId = refs.stepId;
  envelope.streamId = place.stream.id;
  envelope.streamKind = place.stream.kind;
  if (event.synthetic === true) envelope.synthetic = true;
  envelope.tenant = place.unit.tenant;
  if (refs.toolCallId !== undefined) envelope.toolCallId = refs.toolCallId;
  if (refs.turnId !== undefined) envelope.turnId = refs.turnId;
  envelope.unitId = place.unit.unitId;
  envelope.unitIndex = place.unitIndex;
  envelope.unitSize = place.unitSize;
  envelope.version = place.version;
  envelope.versionSetId = place.versionSetId;
  return envelope;
}
