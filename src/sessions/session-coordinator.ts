import { CountersignError } from '../domain/errors/countersign-error.js';
import type { Producer } from '../domain/events/event-definition.js';
import { timeAt } from '../domain/events/instant.js';
import { SESSION_FORMAT_VERSION } from '../domain/session/session-catalogue.js';
import { appendToCore, type NewSessionEvent } from '../domain/session/session.append.js';
import { emptyCore } from '../domain/session/session-core.js';
import { newSessionIdProblem } from '../domain/session/session-id.js';
import type { SessionKey } from '../domain/session/session-key.js';
import type { SessionParent, SessionRow } from '../domain/session/session-row.js';
import { tailOf } from '../domain/session/tail.js';
import { LiveSession } from './live-session.js';
import type { LiveEnvironment, LiveRules, OpenedSession, SessionMedium } from './live-session.parts.js';
import { drainSessions } from './session-drain.js';
import { inspectStored, type InspectOptions, type InspectReport } from './session-inspection.js';
import { refuseId, SessionLoader, type LoadRules, type SessionPreparation } from './session-load.js';
import { failedWith, readFailure, readOf, textOf, type SessionMedia } from './session-media.js';
import { SessionSaves, type SavePoint, type SaveResult } from './session-saves.js';
import { SerialChain } from './serial-chain.js';

export interface CoordinatorRules extends LiveRules, LoadRules {
  readonly openMax: number;
  readonly idleCloseMs: number;
  readonly versionSetId: string;
}

/** A known session; `headSeq` only of one that is open here. */
export interface SessionListing {
  readonly sessionId: string;
  readonly isLive: boolean;
  readonly headSeq: number | null;
}

const PAGE = 500;

/**
 * The sessions of this process: at most one live session per key, everything that touches a log one after another per key,
 * recovery in one place for every medium. Knows of media only what their capabilities say.
 */
export class SessionCoordinator {
  readonly saves: SessionSaves;
  private readonly chain = new SerialChain();
  private readonly loader: SessionLoader;
  private readonly live = new Map<string, LiveSession>();
  private readonly opening = new Map<string, Promise<LiveSession>>();
  private isClosing = false;

  constructor(
    private readonly media: SessionMedia,
    private readonly rules: CoordinatorRules,
    private readonly environment: LiveEnvironment,
  ) {
    this.loader = new SessionLoader(media, rules, environment);
    this.saves = new SessionSaves(media.snapshots, rules.fold, rules.versionSetId, environment.clock);
  }

  /** A new session without any artefact: the first row that is written makes one. Rejects with `session_exists`. */
  async create(key: SessionKey, parent?: SessionParent): Promise<LiveSession> {
    const problem = newSessionIdProblem(key.sessionId);
    if (problem !== null) throw new CountersignError('invalid_session_id', problem);
    return this.openOnce(
      key,
      async () => {
        const { backend, snapshots } = this.media;
        if ((await backend.readStoredRevision(key)) !== null || (await snapshots.exists(key))) throw exists();
        const createdAt = timeAt(this.environment.clock.now());
        const header = {
          formatVersion: SESSION_FORMAT_VERSION,
          ...key,
          createdAt,
          ...(parent === undefined ? {} : { parent }),
        };
        const core = emptyCore(key);
        const folded = { state: this.rules.fold.start(key.sessionId), seq: -1 };
        const log = { durableSeq: -1, barrierSeq: -1, revision: null };
        return { header, core, folded, log, unwritten: [], notResumable: false, loadSource: 'new' as const };
      },
      true,
    );
  }

  /** The live session, whatever it is doing, or the stored one, loaded and repaired: once, however many ask at once. */
  open(key: SessionKey): Promise<LiveSession> {
    return this.openOnce(key, async () => (await this.loader.load(key)).opened, false);
  }

  /**
   * What is stored, validated and repaired, frozen. A live session is not loaded beside itself: with an open turn it is
   * refused with `session_live_open_turn`, without one it answers for itself.
   */
  async prepare(key: SessionKey): Promise<SessionPreparation> {
    refuseId(key);
    const live = this.find(key);
    if (live === undefined) return this.chain.run(textOf(key), async () => (await this.loader.load(key)).preparation);
    if (live.hasOpenTurn)
      throw new CountersignError('session_live_open_turn', 'the session is live, and its turn is open');
    await live.flush();
    return preparationOf(live);
  }

  /**
   * Whether a log lies under the name of the session. Rejects with `session_id_collision` where another session has that name,
   * on disk, already.
   */
  async isStored(key: SessionKey): Promise<boolean> {
    refuseId(key);
    const [log, snapshot] = await Promise.all([
      readOf(this.media.backend.loadStored(key)),
      readOf(this.media.snapshots.load(key)),
    ]);
    for (const read of [log, snapshot]) {
      if (failedWith(read, 'session_identity_mismatch')) {
        throw new CountersignError('session_id_collision', 'another session has the same name on disk');
      }
    }
    if (!log.ok) throw readFailure(log.error);
    return log.value !== null;
  }

  /** Whether a new session could begin with this. Throws as an append of it would reject; nothing is appended. */
  mustBeSayable(key: SessionKey, event: NewSessionEvent, producer: Producer): void {
    const { eventBytesMax, holdsSecret } = this.rules;
    const at = timeAt(this.environment.clock.now());
    const context = { producer, at, nextEventId: () => 'evt', eventBytesMax, holdsSecret };
    const tried = appendToCore(emptyCore(key), [event], context);
    if (!tried.ok) throw new CountersignError(tried.code, tried.message);
  }

  /** The log as text. Rejects with `raw_artifact_unsupported` where the medium keeps none, and `session_not_found`. */
  async readRaw(key: SessionKey): Promise<string> {
    refuseId(key);
    const { backend } = this.media;
    if (backend.readRaw === undefined)
      throw new CountersignError('raw_artifact_unsupported', 'this medium keeps no text');
    await this.find(key)?.flush();
    return read(backend.readRaw(key));
  }

  find(key: SessionKey): LiveSession | undefined {
    return this.live.get(textOf(key));
  }

  /** Sessions that are open in this process. */
  all(): readonly LiveSession[] {
    return [...this.live.values()];
  }

  /** Reads and never repairs; of a live session too, as far as it is durable. */
  inspect(key: SessionKey, options: InspectOptions = {}): Promise<InspectReport> {
    refuseId(key);
    return this.chain.run(textOf(key), () => inspectStored(this.media, key, options));
  }

  /** Durable rows from `fromSeq` on, in order. Rejects with `session_not_found`. */
  async *readFrom(key: SessionKey, fromSeq: number): AsyncGenerator<SessionRow, void, undefined> {
    refuseId(key);
    for (let next = fromSeq; ;) {
      const from = next;
      const rows = await (this.find(key)?.rowsFrom(from, PAGE) ?? this.stored(key, from, PAGE));
      yield* rows;
      if (rows.length < PAGE) return;
      next += rows.length;
    }
  }

  /** Everything the tenant has, stored or only open here, sorted by id. */
  async list(tenant: string): Promise<readonly SessionListing[]> {
    const ids = new Set(await this.media.backend.list(tenant));
    for (const { key } of this.live.values()) if (key.tenant === tenant) ids.add(key.sessionId);
    return [...ids].sort().map((sessionId) => {
      const live = this.find({ tenant, sessionId });
      return { sessionId, isLive: live !== undefined, headSeq: live?.status().headSeq ?? null };
    });
  }

  /** Resolves with the `seq` up to which everything is durable; null: the session is not open here, so nothing waits. */
  async flush(key: SessionKey): Promise<number | null> {
    const durableSeq = (await this.find(key)?.flush()) ?? null;
    await this.chain.settled(textOf(key));
    return durableSeq;
  }

  /** Only for an open session; a plain `Error` otherwise. */
  save(key: SessionKey, point: SavePoint): Promise<SaveResult> {
    const live = this.find(key);
    if (live === undefined) throw new Error('only an open session is saved');
    return this.saves.save(live, point);
  }

  /** Flushes the session and lets go of it. What waits stays open with its session if the flush fails. */
  async close(key: SessionKey): Promise<void> {
    const live = this.find(key);
    if (live === undefined) return;
    const { usedAt } = live;
    await live.flush();
    // whoever has come to work with it since goes on with it
    const { headSeq, durableSeq } = live.status();
    if (headSeq !== durableSeq || live.usedAt !== usedAt || live.hasOpenTurn) return;
    live.closeAdmission();
    this.live.delete(textOf(key));
  }

  /**
   * Lets go of sessions that were idle too long, and of those idle longest where there are too many. Never of an open turn, nor
   * of what somebody follows: whoever follows would open it again at once.
   */
  async closeIdle(): Promise<void> {
    const { openMax, idleCloseMs } = this.rules;
    const idle = this.all()
      .filter((live) => !live.hasOpenTurn && !live.isFollowed && !this.saves.owesMark(live.key))
      .sort((left, right) => left.usedAt - right.usedAt);
    const tooMany = this.live.size - openMax;
    const now = this.environment.clock.now();
    const leaving = idle.filter((live, at) => at < tooMany || now - live.usedAt >= idleCloseMs);
    await Promise.allSettled(leaving.map((live) => this.close(live.key)));
  }

  /** Removes everything stored of the session; what is in memory of it goes unwritten. */
  async delete(key: SessionKey): Promise<void> {
    refuseId(key);
    this.find(key)?.discard();
    await this.chain.run(textOf(key), async () => {
      // one that was being loaded when the removal was asked for is there only now
      this.find(key)?.discard();
      this.live.delete(textOf(key));
      await this.saves.forget(key);
      await this.media.snapshots.delete(key);
      await this.media.backend.delete(key);
    });
  }

  /** The end of the process, in the order of §1.8. Rejects with one `AggregateError` if anything failed. */
  async drain(): Promise<void> {
    this.isClosing = true;
    await Promise.allSettled(this.opening.values());
    await drainSessions(this.all(), this.chain, this.saves, this.media);
    this.live.clear();
  }

  private openOnce(key: SessionKey, opens: () => Promise<OpenedSession>, isNew: boolean): Promise<LiveSession> {
    const text = textOf(key);
    const there = this.live.get(text) ?? this.opening.get(text);
    if (there !== undefined) return isNew ? Promise.reject(exists()) : Promise.resolve(there);
    if (this.isClosing) return Promise.reject(new CountersignError('persistence_closed', 'the process is ending'));
    const opening = this.chain
      .run(text, async () => this.register(await read(opens())))
      .finally(() => this.opening.delete(text));
    this.opening.set(text, opening);
    return opening;
  }

  private register(opened: OpenedSession): LiveSession {
    const live = new LiveSession(opened, this.mediumOf(opened), this.rules, this.environment);
    this.live.set(textOf(live.key), live);
    return live;
  }

  private mediumOf({ core, header, log }: OpenedSession): SessionMedium {
    const { key } = core;
    let materialized = log.revision !== null;
    return {
      write: (rows, barrier) =>
        this.chain.run(textOf(key), async () => {
          const written = await this.media.backend.appendBatch(key, header, rows, { materialized, barrier });
          materialized = true;
          return written;
        }),
      read: (fromSeq, limit) => this.stored(key, fromSeq, limit),
    };
  }

  private stored(key: SessionKey, fromSeq: number, limit: number): Promise<readonly SessionRow[]> {
    return this.chain.run(
      textOf(key),
      async () => (await read(this.media.backend.loadStoredFrom(key, fromSeq, limit))).rows,
    );
  }
}

function preparationOf(live: LiveSession): SessionPreparation {
  const { headSeq, lastEventId } = live.facts;
  return Object.freeze({
    key: live.key,
    header: live.header,
    lastSeq: headSeq,
    lastEventId,
    revision: live.status().revision,
    tail: tailOf(live.facts),
    state: live.state(),
    notResumable: live.notResumable,
    loadSource: 'main',
  });
}

async function read<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    throw readFailure(error);
  }
}

const exists = (): CountersignError => new CountersignError('session_exists', 'there is a session with this id');
