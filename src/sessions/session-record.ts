import type { EventEnvelope } from '../domain/events/envelope.js';
import type { JsonObject } from '../domain/json/json-value.js';
import type { SessionKey } from '../domain/session/session-key.js';
import type { AgentState } from '../domain/session/session-state.js';

/** A governed event of a session, with what its leaf commits to. */
export interface GovernedEvent {
  readonly event: {
    /** Index in the ledger. */
    readonly position: number;
    readonly envelope: EventEnvelope;
    /** Null: erased. */
    readonly payload: JsonObject | null;
  };
  /** Hex. */
  readonly payloadCommitment: string;
}

/** What recovery found when nobody was there to go on with a turn. */
export interface Interruption {
  readonly runId: string;
  readonly turnId: string;
  /** The last whole row of the log. */
  readonly lastSeq: number;
  readonly lastEventId: string | null;
}

export interface Repair {
  /** The last row that was kept. */
  readonly lastSeq: number;
  /** The content that was found damaged at its end. */
  readonly oldRevision: string;
}

/** A state from before there were logs. */
export interface ImportedState {
  /** SHA-256 of its canonical text, hex. */
  readonly sourceDigest: string;
  readonly agentState: AgentState;
}

/** What operators and auditors are told; details hold no content and at most eight characters of an id. */
export type PersistenceDiagnostic =
  | 'persistence.background_write_failed'
  | 'persistence.observer_failed'
  | 'persistence.torn_tail_repaired'
  | 'persistence.snapshot_fallback_used'
  | 'persistence.snapshot_rebuilt'
  | 'persistence.not_resumable_mark_failed';

/**
 * What the store knows of sessions. It is the authority for everything governed; the log repeats it. The units are guarded
 * and may be asked for again: what is recorded already is not recorded twice.
 */
export abstract class SessionRecord {
  /** Every governed event of the session with `position` above, in order of position. */
  abstract governedEvents(key: SessionKey, afterPosition: number): AsyncIterable<GovernedEvent>;
  /** Records `run.interrupted` (or `run.suspended`, where that was under way) with its checkpoint. Nothing for a run that has ended. */
  abstract commitInterruption(key: SessionKey, interruption: Interruption): Promise<void>;
  /** Records `session.repaired`: an unfinished tail was cut. */
  abstract commitRepaired(key: SessionKey, repair: Repair): Promise<void>;
  /** Records `session.imported`: a state of an earlier layout begins the log. */
  abstract commitImported(key: SessionKey, source: ImportedState): Promise<void>;
  /** R18: the run ends unrecorded, its approvals are closed and its leases revoked. Nothing for a run that has ended. */
  abstract markNotResumable(key: SessionKey, runId: string): Promise<void>;
  /** Another process holds the session and its heartbeat is young enough. */
  abstract isOwnedElsewhere(key: SessionKey): Promise<boolean>;
  /** A diagnostic. Never rejects. */
  abstract audit(name: PersistenceDiagnostic, key: SessionKey, details: JsonObject): void;
}
