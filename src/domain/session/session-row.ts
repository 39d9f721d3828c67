import type { CauseKind, EventEnvelope } from '../events/envelope.js';
import type { Producer } from '../events/event-definition.js';
import type { JsonObject } from '../json/json-value.js';

/** Which group of events that appear together an event belongs to: contiguous, never split over two writes. */
export interface SessionGroup {
  readonly groupId: string;
  /** From 0. */
  readonly groupIndex: number;
  readonly groupSize: number;
}

/** A buffered event of the session log. Deeply frozen from the moment it has a `seq`. */
export interface SessionEvent extends Partial<SessionGroup> {
  readonly kind: 'event';
  /** Contiguous from 0 over events and mirrors of the session; not the position of the ledger. */
  readonly seq: number;
  readonly eventId: string;
  /** One of `SESSION_CATALOGUE`; another word only in a row that says `ignorable`. */
  readonly eventType: string;
  readonly schemaVersion: number;
  readonly runId?: string;
  readonly turnId?: string;
  readonly stepId?: string;
  readonly toolCallId?: string;
  readonly reasoningObjectId?: string;
  readonly skillId?: string;
  readonly producer: Producer;
  /** The business intent; events about none use the run id, session-level ones the session id. */
  readonly correlationId: string;
  /** An event of this session, buffered or governed, or null for a first cause. */
  readonly causationId: string | null;
  readonly causeKind: CauseKind;
  /** ISO 8601 with offset: when it happened, and when it was appended. */
  readonly occurredAt: string;
  readonly recordedAt: string;
  readonly synthetic?: true;
  readonly ignorable?: true;
  readonly payload: JsonObject;
}

/** A governed event of the session as the log repeats it. The store is the authority: a row that differs from it is corruption. */
export interface MirrorRow {
  readonly kind: 'mirror';
  readonly seq: number;
  readonly eventId: string;
  /** Index in the ledger. */
  readonly position: number;
  readonly envelope: EventEnvelope;
  /** Hex: what the leaf commits to. */
  readonly payloadCommitment: string;
}

/** One row of the log. */
export type SessionRow = SessionEvent | MirrorRow;

/** A mirror row with the payload of its event, which only the store has. Null: erased. */
export interface MirroredEvent extends MirrorRow {
  readonly payload: JsonObject | null;
}

/** What reducers read: the whole story of a session, in order of `seq`. */
export type SessionFact = SessionEvent | MirroredEvent;

/** First thing of every log. */
export interface SessionHeader {
  readonly formatVersion: number;
  readonly tenant: string;
  readonly sessionId: string;
  /** ISO 8601 with offset. */
  readonly createdAt: string;
  readonly parent?: SessionParent;
}

/** Whose work a session does, when another session handed it over. */
export interface SessionParent {
  readonly sessionId: string;
  readonly runId?: string;
  readonly toolCallId?: string;
  readonly subagentId?: string;
}
