import type { Producer } from '../domain/events/event-definition.js';
import type { JsonObject } from '../domain/json/json-value.js';
import type { SessionCore } from '../domain/session/session-core.js';
import type { SessionKey } from '../domain/session/session-key.js';
import type { SessionEvent, SessionFact, SessionHeader, SessionRow } from '../domain/session/session-row.js';
import type { Clock } from '../system/clock.js';
import type { IdSource } from '../system/id-source.js';
import type { Timer } from '../system/timers.js';
import type { FoldedUpTo } from './row-memory.js';
import type { SessionFold } from './session-fold.js';
import type { PersistenceDiagnostic } from './session-record.js';
import type { WriteBehindOptions, WriteBehindStart, WriteBehindStatus } from './write-behind.js';

export interface LiveRules {
  readonly fold: SessionFold;
  /** Whether a payload holds a credential; such an event is refused. */
  readonly holdsSecret: (payload: JsonObject) => boolean;
  readonly eventBytesMax: number;
  readonly batchEventsMax: number;
  /** Durable rows that stay in memory. */
  readonly rowsKept: number;
  readonly writeBehind: WriteBehindOptions;
}

/** The log of this one session; calls come one at a time. */
export interface SessionMedium {
  write(rows: readonly SessionRow[], barrier: boolean): Promise<{ readonly revision: string }>;
  read(fromSeq: number, limit: number): Promise<readonly SessionRow[]>;
}

export interface LiveEnvironment {
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly after: (ms: number, run: () => void) => Timer;
  readonly report: (name: PersistenceDiagnostic, key: SessionKey, details: JsonObject) => void;
}

/** A session as a load or a creation left it. The core is the live session's from now on. */
export interface OpenedSession {
  readonly header: SessionHeader;
  readonly core: SessionCore;
  readonly folded: FoldedUpTo;
  /** Where the medium stands: before the rows of `unwritten`. */
  readonly log: WriteBehindStart;
  /** Rows that the core and the state have and the medium has not: governed events that the log lacked. */
  readonly unwritten: readonly SessionFact[];
  readonly notResumable: boolean;
  /** What the state was taken from. */
  readonly loadSource: 'main' | 'bak' | 'rebuilt' | 'new';
}

export interface AppendOptions {
  readonly producer: Producer;
  /** Of the harness that appends; null: the runtime itself. */
  readonly ownerEpoch: number | null;
  /** The last `seq` that the caller knows of; left out: whatever it is. */
  readonly expectedSeq?: number;
  /** The events also become durable together or not at all. */
  readonly isGroup?: boolean;
}

export interface AppendAnswer {
  /** What was appended, in memory: durable is what `durableSeq` says. */
  readonly events: readonly SessionEvent[];
  readonly headSeq: number;
  readonly durableSeq: number;
}

/** `headSeq` and what is known of the disk, for people who look. */
export interface SessionStatus extends WriteBehindStatus {
  readonly headSeq: number;
  readonly ownerEpoch: number;
  readonly rowsInMemory: number;
}
