import { hash } from 'node:crypto';
import { CountersignError } from '../domain/errors/countersign-error.js';
import type { ErrorCode } from '../domain/errors/error-codes.js';
import { timeAt } from '../domain/events/instant.js';
import { canonicalJson } from '../domain/json/canonical-json.js';
import type { JsonObject } from '../domain/json/json-value.js';
import { isEnded } from '../domain/run/run.state.js';
import { closersOf } from '../domain/session/closers.js';
import { appendToCore } from '../domain/session/session.append.js';
import { SESSION_FORMAT_VERSION } from '../domain/session/session-catalogue.js';
import { emptyCore, runStatusOf, type SessionCore } from '../domain/session/session-core.js';
import { evolveCore } from '../domain/session/session-core.evolve.js';
import { sessionIdProblem } from '../domain/session/session-id.js';
import type { SessionKey } from '../domain/session/session-key.js';
import type {
  MirroredEvent,
  SessionFact,
  SessionHeader,
  SessionParent,
  SessionRow,
} from '../domain/session/session-row.js';
import type { SessionSnapshot } from '../domain/session/session-state.js';
import { sessionParentOf } from '../domain/session/session.evolve.js';
import { classifyTail, tailOf, type TailClass } from '../domain/session/tail.js';
import type { StoredLog } from './backends/persistence-backend.js';
import type { LiveEnvironment, OpenedSession } from './live-session.parts.js';
import { rowOf } from './row-memory.js';
import { joinedFacts } from './session-facts.js';
import { type FoldedState, type SessionFold } from './session-fold.js';
import { failedWith, readOf, refuseFor, type Read, type SessionMedia } from './session-media.js';
import { reducedState, snapshotProblem } from './session-reduction.js';
import type { LoadedSnapshot } from './snapshots/state-storage.js';

export interface LoadRules {
  readonly fold: SessionFold;
  /** A snapshot that cannot be read refuses the session instead of falling back to the one before it. */
  readonly strictSnapshots: boolean;
}

/** A session as it is durable, whole and understood. Frozen; nothing has been dispatched for it. */
export interface SessionPreparation {
  readonly key: SessionKey;
  readonly header: SessionHeader;
  /** The last durable row; -1: none. */
  readonly lastSeq: number;
  readonly lastEventId: string | null;
  readonly revision: string | null;
  readonly tail: TailClass;
  readonly state: FoldedState;
  readonly notResumable: boolean;
  readonly loadSource: 'main' | 'bak' | 'rebuilt' | 'new';
}

export interface LoadedSession {
  readonly preparation: SessionPreparation;
  readonly opened: OpenedSession;
}

/** A whole log needs at most: cut, mark, interrupt, close. The rest is for writers that come between. */
const STEPS_MAX = 8;
const STALE_MAX = 3;

interface Understood {
  readonly log: StoredLog<unknown> | null;
  readonly header: SessionHeader;
  readonly facts: readonly SessionFact[];
  readonly missing: readonly MirroredEvent[];
  /** Of the facts and of what is missing. */
  readonly core: SessionCore;
  readonly snapshot: Read<LoadedSnapshot>;
}

/**
 * The cold load of state-machines §9. Each step of a repair is one write, after which everything is read again: a crash between
 * two of them leaves what the next load takes up in the same way.
 */
export class SessionLoader {
  constructor(
    private readonly media: SessionMedia,
    private readonly rules: LoadRules,
    private readonly environment: LiveEnvironment,
  ) {}

  async load(key: SessionKey): Promise<LoadedSession> {
    refuseId(key);
    const done = new Set<string>();
    let stale = 0;
    for (let step = 0; step < STEPS_MAX; step += 1) {
      const found = await this.understand(key);
      if (found.core.isDeleted) throw new CountersignError('session_deleted', 'the session was deleted');
      if (await this.repair(key, found, done)) continue;
      const loaded = this.publish(key, found);
      if ((await this.media.backend.readStoredRevision(key)) === (found.log?.revision ?? null)) return loaded;
      stale += 1;
      if (stale === STALE_MAX) break;
    }
    throw new CountersignError('revision_stale', 'the log was changed while it was being read');
  }

  /** Rows 4 to 12 and 18: what is refused before anything is written. */
  private async understand(key: SessionKey): Promise<Understood> {
    const { backend, snapshots, record } = this.media;
    const log = await readOf(backend.loadStored(key));
    const snapshot = await readOf(snapshots.load(key));
    mustBeOfKey(key, log, snapshot);
    refuseFor(snapshot, 'schema_version_unsupported');
    refuseFor(log, 'session_format_unsupported');
    if (!log.ok) throw log.error;
    if (log.value === null) return this.withoutLog(key, snapshot);
    const { header, rows } = log.value;
    const joined = await joinedFacts(record, key, rows);
    // the vocabulary is judged first: what only a newer program understands is not held against a store of today
    const verdict = classifyTail(key, header, joined.ok ? joined.facts : rows.map(unjoined));
    if (!verdict.ok && verdict.code !== 'session_log_corrupt') throw refusalOf(verdict);
    if (!joined.ok) throw refusalOf({ ...joined, code: 'session_log_corrupt' });
    if (!verdict.ok) throw refusalOf(verdict);
    const problem = snapshotProblem(snapshot, joined.facts, this.rules.strictSnapshots);
    if (problem !== null) throw problem;
    for (const fact of joined.missing) evolveCore(verdict.core, fact);
    return { log: log.value, header, facts: joined.facts, missing: joined.missing, core: verdict.core, snapshot };
  }

  /**
   * Rows 8 to 11. A session that nothing has been said or done in yet has no log: its first row is written when there is one.
   */
  private async withoutLog(key: SessionKey, snapshot: Read<LoadedSnapshot>): Promise<Understood> {
    if (snapshot.ok) await this.importState(key, snapshot.value.snapshot);
    else if (!failedWith(snapshot, 'session_not_found')) throw snapshot.error;
    const joined = await joinedFacts(this.media.record, key, []);
    // The store knows that there was a log.
    if (!joined.ok) throw refusalOf({ ...joined, code: 'session_log_corrupt' });
    const { missing } = joined;
    const isUntouched = missing.length > 0 && missing.every(({ envelope }) => envelope.streamKind === 'session');
    if (!snapshot.ok && !isUntouched) throw snapshot.error;
    const core = emptyCore(key);
    for (const fact of missing) evolveCore(core, fact);
    const createdAt = timeAt(this.environment.clock.now());
    const parent = parentIn(missing);
    const header = { formatVersion: SESSION_FORMAT_VERSION, ...key, createdAt, ...(parent === null ? {} : { parent }) };
    return { log: null, header, facts: [], missing, core, snapshot };
  }

  private async importState(key: SessionKey, { position, agentState }: SessionSnapshot): Promise<void> {
    if (position !== null) {
      throw new CountersignError('log_missing_for_snapshot', 'there is a snapshot of the session and no log');
    }
    const sourceDigest = hash('sha256', canonicalJson(agentState as unknown as JsonObject), 'hex');
    await this.media.record.commitImported(key, { sourceDigest, agentState });
  }

  /** One step of rows 13, 14 and 21, the first that is due. True: something was written, everything is to be read again. */
  private async repair(key: SessionKey, found: Understood, done: Set<string>): Promise<boolean> {
    const { log, core } = found;
    const isOpen = tailOf(core) === 'open';
    if (log?.torn === undefined && !isOpen) return this.markEnded(key, found, done);
    if (await this.media.record.isOwnedElsewhere(key)) {
      throw new CountersignError('session_live_open_turn', 'another process has the session open');
    }
    if (log?.torn !== undefined) {
      const lastSeq = log.rows.length - 1;
      await this.media.backend.commitRepair(key, log.torn, []);
      await this.media.record.commitRepaired(key, { lastSeq, oldRevision: log.revision });
      this.media.record.audit('persistence.torn_tail_repaired', key, { lastSeq });
      return true;
    }
    if (await this.interrupt(key, core, done)) return true;
    await this.media.backend.commitRepair(key, undefined, this.closingRows(found));
    return true;
  }

  private async interrupt(key: SessionKey, core: SessionCore, done: Set<string>): Promise<boolean> {
    const { turn, lastEventId, headSeq } = core;
    if (turn === null || done.has('interrupted')) return false;
    const status = runStatusOf(core, turn.runId);
    if (status !== 'running' && status !== 'suspending') return false;
    done.add('interrupted');
    const { runId, turnId } = turn;
    await this.media.record.commitInterruption(key, { runId, turnId, lastSeq: headSeq, lastEventId });
    return true;
  }

  /** What the log lacks, then what closes its turn. */
  private closingRows({ core, missing }: Understood): readonly SessionRow[] {
    const { ids, clock } = this.environment;
    // nobody was there to end the turn when its run was stopped
    const outcome = runStatusOf(core, core.turn?.runId) === 'stopped' ? 'stopped' : 'interrupted';
    const appended = appendToCore(core, closersOf(core, outcome), {
      producer: 'recovery',
      nextEventId: () => ids.next('evt'),
      at: timeAt(clock.now()),
      eventBytesMax: Number.MAX_SAFE_INTEGER,
      holdsSecret: () => false,
      synthetic: true,
    });
    if (!appended.ok) throw new Error(`broken invariant: a closer is refused: ${appended.code}`);
    return [...missing.map(rowOf), ...appended.events];
  }

  /** Row 21: somebody who could not save the end of a run left a mark, and no end is on record. */
  private async markEnded(key: SessionKey, { core, snapshot }: Understood, done: Set<string>): Promise<boolean> {
    const { lastRunId } = core;
    if (!snapshot.ok || !snapshot.value.notResumable || lastRunId === null || done.has('marked')) return false;
    const status = runStatusOf(core, lastRunId);
    if (status === 'none' || isEnded(status)) return false;
    done.add('marked');
    await this.media.record.markNotResumable(key, lastRunId);
    return true;
  }

  /** Rows 17 to 20, 22, 23 and 28. */
  private publish(key: SessionKey, found: Understood): LoadedSession {
    const { log, header, facts, missing, core, snapshot } = found;
    const reduced = reducedState(this.rules.fold, core, snapshot, [...facts, ...missing]);
    if (reduced.loadSource === 'bak') this.media.record.audit('persistence.snapshot_fallback_used', key, {});
    if (reduced.isRebuilt) this.media.record.audit('persistence.snapshot_rebuilt', key, { rows: facts.length });
    const lastSeq = facts.length - 1;
    const revision = log?.revision ?? null;
    const { state, notResumable, loadSource } = reduced;
    const preparation = Object.freeze({
      key: Object.freeze({ ...key }),
      header,
      lastSeq,
      lastEventId: facts.at(-1)?.eventId ?? null,
      revision,
      tail: tailOf(core),
      state: Object.freeze(state),
      notResumable,
      loadSource,
    });
    const opened: OpenedSession = {
      header,
      core,
      folded: { state, seq: core.headSeq },
      log: { durableSeq: lastSeq, barrierSeq: log?.barrierSeq ?? -1, revision },
      unwritten: missing,
      notResumable,
      loadSource,
    };
    return { preparation, opened };
  }
}

/** Whose work the session does, as it was recorded when it was opened (D-84). */
function parentIn([first]: readonly MirroredEvent[]): SessionParent | null {
  const payload = first?.envelope.eventType === 'session.opened' ? first.payload : null;
  return payload === null ? null : sessionParentOf(payload);
}

/** Row 1. */
export function refuseId(key: SessionKey): void {
  const problem = sessionIdProblem(key.sessionId);
  if (problem !== null) throw new CountersignError('invalid_session_id', problem);
}

/** Row 4. */
function mustBeOfKey(key: SessionKey, log: Read<StoredLog<unknown> | null>, snapshot: Read<LoadedSnapshot>): void {
  refuseFor(log, 'session_identity_mismatch');
  refuseFor(snapshot, 'session_identity_mismatch');
  const owners = [log.ok ? log.value?.header : undefined, snapshot.ok ? snapshot.value.snapshot : undefined];
  for (const owner of owners) {
    if (owner !== undefined && (owner.tenant !== key.tenant || owner.sessionId !== key.sessionId)) {
      throw new CountersignError('session_identity_mismatch', 'what is stored under this id is of another session');
    }
  }
}

const unjoined = (row: SessionRow): SessionFact => (row.kind === 'event' ? row : { ...row, payload: null });

function refusalOf(found: {
  readonly code: ErrorCode;
  readonly problem: string;
  readonly seq: number | null;
}): CountersignError {
  const place = found.seq === null ? '' : ` at seq ${found.seq}`;
  return new CountersignError(found.code, `${found.problem}${place}`);
}
