import type { JsonObject } from '../json/json-value.js';
import type { EventType, Producer, StreamKind } from './catalogue.js';

/** Who acted: `sub` is the person (or service) on whose behalf, `act` the agent that acts for them (RFC 8693). */
export interface Actor {
  readonly sub: string;
  readonly act?: Actor;
}

export interface StreamRef {
  readonly kind: StreamKind;
  readonly id: string;
}

/** The other things an event is about. Absent means "not about one". */
export interface EventRefs {
  readonly sessionId?: string;
  readonly runId?: string;
  readonly turnId?: string;
  readonly stepId?: string;
  readonly toolCallId?: string;
  readonly approvalId?: string;
  readonly policyDecisionId?: string;
  /** `name@version`. */
  readonly capabilityId?: string;
  readonly reasoningObjectId?: string;
  readonly skillId?: string;
  readonly artifactId?: string;
  readonly feedbackId?: string;
  readonly credentialLeaseId?: string;
  readonly commandId?: string;
}

/** Why there is no causing event, or that there is one. */
export type CauseKind = 'event' | 'external' | 'timer';

/** A fact as it is handed to the write path: everything the writer cannot know by itself is here. */
export interface NewEvent {
  readonly eventId: string;
  readonly type: EventType;
  readonly refs: EventRefs;
  readonly producer: Producer;
  readonly actor: Actor;
  /** The business intent: the first tool call's id unless the caller names an `intentId`; a run's events use the run id. */
  readonly correlationId: string;
  /** A governed event of a lower position or earlier in the same unit; null for first causes. */
  readonly causationId: string | null;
  readonly causeKind: CauseKind;
  /** ISO 8601 with offset: when it happened. */
  readonly occurredAt: string;
  /** True only for facts that recovery states on behalf of a dead process. */
  readonly synthetic?: true;
  readonly payload: JsonObject;
}

/** The envelope of a stored event: what the leaf hash covers, besides the payload commitment. */
export interface EventEnvelope extends EventRefs {
  readonly eventId: string;
  readonly eventType: EventType;
  readonly schemaVersion: number;
  readonly tenant: string;
  readonly streamKind: StreamKind;
  readonly streamId: string;
  /** Contiguous from 1 per stream. */
  readonly version: number;
  readonly unitId: string;
  readonly unitIndex: number;
  readonly unitSize: number;
  readonly producer: Producer;
  readonly actor: Actor;
  readonly correlationId: string;
  readonly causationId: string | null;
  readonly causeKind: CauseKind;
  readonly occurredAt: string;
  /** Set by the writer: when it was recorded. */
  readonly recordedAt: string;
  readonly versionSetId: string;
  readonly synthetic?: true;
}

/** A durable event with its position (dense, from 0, in commit order) and its unsealed payload. */
export interface CommittedEvent {
  readonly position: number;
  readonly envelope: EventEnvelope;
  readonly payload: JsonObject;
}
