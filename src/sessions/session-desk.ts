import { Injectable } from '@nestjs/common';
import { CountersignError } from '../domain/errors/countersign-error.js';
import type { JsonObject } from '../domain/json/json-value.js';
import type { NewSessionEvent } from '../domain/session/session.append.js';
import { modelHistory } from '../domain/session/history/model-history.js';
import { SESSION_FORMAT_VERSION } from '../domain/session/session-catalogue.js';
import type { SessionKey } from '../domain/session/session-key.js';
import type { SessionParent } from '../domain/session/session-row.js';
import type { HistoryMessage } from '../domain/session/session-state.js';
import type { TableRow } from '../storage/rows/tables.js';
import type { LiveSession } from './live-session.js';
import { SessionCoordinator } from './session-coordinator.js';
import { SessionFollower } from './session-follower.worker.js';
import { SessionMirror } from './session-mirror.js';
import { SessionRecord } from './session-record.js';

export const keyOf = ({ tenant, session_id: sessionId }: TableRow<'sessions'>): SessionKey => ({ tenant, sessionId });

/** Once more than one can be let go of between its opening and its use. */
const OPENS_MAX = 2;

/**
 * Live sessions with everything that belongs to them: their governed events repeated, their owner known, their runs followed.
 * Whoever works with a session gets it here.
 */
@Injectable()
export class SessionDesk {
  constructor(
    readonly coordinator: SessionCoordinator,
    private readonly mirror: SessionMirror,
    private readonly follower: SessionFollower,
    private readonly record: SessionRecord,
  ) {}

  /**
   * The log of a session that was just recorded: `session.created` first, and on disk when this resolves. Where a state of an
   * earlier layout lies under its name the log begins with that.
   */
  async begin(row: TableRow<'sessions'>, metadata: JsonObject): Promise<LiveSession> {
    const live = await this.open(row);
    if (!live.facts.isCreated) await this.create(live, metadata, parentOf(row));
    await live.flush();
    return live;
  }

  /** The session in memory, loaded and repaired where it was not, with everything mirrored that is committed by now. */
  async open(row: TableRow<'sessions'>): Promise<LiveSession> {
    const key = keyOf(row);
    for (let tries = 0; tries < OPENS_MAX; tries += 1) {
      const live = await this.coordinator.open(key);
      live.touch();
      if (live.ownerEpoch < row.owner_epoch) live.attach(row.owner_epoch);
      this.follower.follow(live);
      await this.mirror.caughtUp(live);
      // One that was let go of as idle meanwhile is opened again.
      if (!live.isClosed) return live;
    }
    throw new CountersignError('persistence_closed', 'the session is being closed');
  }

  /** Removes the log and the snapshots. What is still being written about its last run is waited for. */
  async delete(row: TableRow<'sessions'>): Promise<void> {
    const live = this.coordinator.find(keyOf(row));
    live?.discard();
    if (live !== undefined) await this.follower.settled(live);
    await this.coordinator.delete(keyOf(row));
  }

  isLive(row: TableRow<'sessions'>): boolean {
    return this.coordinator.find(keyOf(row)) !== undefined;
  }

  /**
   * Nothing lies under the name, and the log can begin with what it would be about.
   * @throws CountersignError `session_exists`, `session_id_collision`: something lies there that no record vouches for;
   * `secret_in_payload`, `payload_too_large`, `state_not_serializable`: the metadata cannot stand in a log.
   */
  async mustBeFree(key: SessionKey, metadata: JsonObject): Promise<void> {
    this.coordinator.mustBeSayable(key, createdEvent(metadata, null), 'session-runtime');
    if (await this.coordinator.isStored(key))
      throw new CountersignError('session_exists', 'a log of this name is there');
  }

  /**
   * Before another run begins: the end of the last one, where it could not be saved, is saved now, or the mark that it left would
   * be held against the new run. @throws CountersignError `run_not_resumable`, `state_save_failed`.
   */
  async mustTakeRuns(live: LiveSession): Promise<void> {
    if (!live.notResumable) return;
    if (!live.canGoOn) {
      throw new CountersignError('run_not_resumable', 'the last run ended unrecorded: the session can only be read');
    }
    const { outcome } = await this.coordinator.saves.save(live, 'complete');
    if (outcome !== 'saved') throw new CountersignError('state_save_failed', 'the end of the last run is not saved');
  }

  /**
   * What may be shown to a model, as soon as the calls that its last message waits for are answered.
   * @throws CountersignError `history_unpaired`: a call has no answer, and nobody is waited for.
   */
  history(live: LiveSession): readonly HistoryMessage[] {
    const { messages } = live.state().agentState.history;
    const built = modelHistory(messages, (live.facts.turn?.unanswered ?? []).length > 0);
    if (!built.ok) throw new CountersignError(built.problem.code, built.problem.message);
    return built.messages;
  }

  /** The run of the session ends unrecorded and the session can only be read from now on. */
  async markNotResumable(live: LiveSession): Promise<void> {
    await this.coordinator.saves.markNotResumable(live);
    const { lastRunId } = live.facts;
    if (lastRunId !== null) await this.record.markNotResumable(live.key, lastRunId);
    await this.mirror.caughtUp(live);
  }

  private async create(live: LiveSession, metadata: JsonObject, parent: SessionParent | null): Promise<void> {
    const event = createdEvent(metadata, parent);
    await live.append([event], { producer: 'session-runtime', ownerEpoch: null });
  }
}

function createdEvent(metadata: JsonObject, parent: SessionParent | null): NewSessionEvent {
  const handedOverBy = {
    parentSessionId: parent?.sessionId ?? null,
    parentRunId: parent?.runId ?? null,
    parentToolCallId: parent?.toolCallId ?? null,
    subagentId: parent?.subagentId ?? null,
  };
  const payload = {
    metadata,
    formatVersion: SESSION_FORMAT_VERSION,
    ...(parent === null ? {} : handedOverBy),
  };
  return { eventType: 'session.created', payload, causationId: null, causeKind: 'external' };
}

const parentOf = (row: TableRow<'sessions'>): SessionParent | null =>
  row.parent === null ? null : (JSON.parse(row.parent) as SessionParent);
