import { Injectable } from '@nestjs/common';
import type {
  InspectAnswer,
  SessionEventPage,
  SessionEventRepresentation,
  SessionPage,
  SessionRepresentation,
  StateRepresentation,
} from '../client/contract/sessions.js';
import { loadOwnSession, loadSessionOrTombstone } from '../control/own-session.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import type { JsonObject } from '../domain/json/json-value.js';
import { principalKey, principalOf } from '../domain/principal.js';
import type { SessionRow } from '../domain/session/session-row.js';
import { hasRole, type Caller } from '../identity/caller.js';
import type { LiveSession } from '../sessions/live-session.js';
import { keyOf, SessionDesk } from '../sessions/session-desk.js';
import { sessionState } from '../storage/rows/session.row.js';
import type { TableRow } from '../storage/rows/tables.js';
import { Store } from '../storage/store.js';
import { after } from '../system/timers.js';
import type { StreamedEvent } from './event-stream.js';

const PAGE = 500;
/** After this a follower looks by itself, so that one that was never woken ends with its reader. */
const LOOK_AGAIN_MS = 15_000;

/** Who else may read the sessions of a tenant. */
const READERS = ['operator', 'auditor'] as const;

/** Sessions as they are shown. Rows of the log are shown only when they are on disk. */
@Injectable()
export class SessionReading {
  constructor(
    private readonly store: Store,
    private readonly sessions: SessionDesk,
  ) {}

  async show(caller: Caller, sessionId: string): Promise<SessionRepresentation> {
    return this.represent(await loadSessionOrTombstone(this.store.read, caller, sessionId, ...READERS));
  }

  async list(caller: Caller, limit: number, cursor: string | null): Promise<SessionPage> {
    const principal = hasRole(caller, ...READERS) ? null : principalKey(principalOf(caller.actor));
    const rows = await this.store.read.sessions(caller.tenant, principal, beforeOf(cursor), limit + 1);
    const items = rows.slice(0, limit);
    const last = items.at(-1);
    const isMore = rows.length > limit && last !== undefined;
    return { items: items.map((row) => this.represent(row)), nextCursor: isMore ? cursorOf(last) : null };
  }

  async state(caller: Caller, sessionId: string, saved = false): Promise<StateRepresentation> {
    const live = await this.live(caller, sessionId);
    const { agentState, runState } = live.state();
    const { headSeq, lastEventId } = live.facts;
    return {
      sessionId,
      position: { lastSeq: headSeq, lastEventId },
      agentState: agentState as unknown as JsonObject,
      runState: runState as unknown as JsonObject | null,
      canResume: !live.notResumable,
      saved,
    };
  }

  async page(caller: Caller, sessionId: string, fromSeq: number, limit: number): Promise<SessionEventPage> {
    const live = await this.live(caller, sessionId);
    const rows = await live.rowsFrom(fromSeq, limit);
    const { headSeq, durableSeq } = live.status();
    const next = fromSeq + rows.length;
    return { items: rows.map(rowRepresentation), nextSeq: next <= durableSeq ? next : null, headSeq, durableSeq };
  }

  /** Rows from `fromSeq` on as they become durable, until `gone`. */
  async *follow(
    caller: Caller,
    sessionId: string,
    fromSeq: number,
    gone: AbortSignal,
  ): AsyncGenerator<readonly StreamedEvent[]> {
    let next = fromSeq;
    while (!gone.aborted) {
      // Anew each time: an idle session may have been closed in memory meanwhile, and access may have ended.
      const live = await this.live(caller, sessionId);
      const woken = wakened(live, next, gone);
      const rows = await live.rowsFrom(next, PAGE);
      if (rows.length === 0) {
        await woken.promise;
        continue;
      }
      woken.cancel();
      next += rows.length;
      yield rows.map((row) => ({
        position: row.seq,
        eventType: typeOf(row),
        json: JSON.stringify(rowRepresentation(row)),
      }));
    }
  }

  async inspect(caller: Caller, sessionId: string, isDeep: boolean): Promise<InspectAnswer> {
    const row = await loadSessionOrTombstone(this.store.read, caller, sessionId, 'operator');
    const report = await this.sessions.coordinator.inspect(keyOf(row), { isDeep });
    const [problem] = report.problems;
    return {
      sessionId,
      verdict: report.log === 'whole' ? (report.isTorn ? 'torn' : (report.tail ?? 'whole')) : report.log,
      code: problem?.split(':')[0] ?? null,
      report: report as unknown as JsonObject,
    };
  }

  async raw(caller: Caller, sessionId: string): Promise<string> {
    const row = await loadOwnSession(this.store.read, caller, sessionId, 'operator');
    return this.sessions.coordinator.readRaw(keyOf(row));
  }

  private async live(caller: Caller, sessionId: string): Promise<LiveSession> {
    return this.sessions.open(await loadOwnSession(this.store.read, caller, sessionId, ...READERS));
  }

  private represent(row: TableRow<'sessions'>): SessionRepresentation {
    const { principal, parent } = sessionState(row);
    const path = `/v1/sessions/${encodeURIComponent(row.session_id)}`;
    return {
      sessionId: row.session_id,
      status: row.status,
      principal: { sub: principal.sub, act: principal.act ?? null },
      ownerEpoch: row.owner_epoch,
      harnessInstanceId: row.harness_instance_id,
      parent: parent === null ? null : { ...parent },
      log: this.logOf(row),
      createdAt: row.created_at,
      updatedAt: row.updated_at,
      links: { self: path, events: `${path}/events`, state: `${path}/state` },
    };
  }

  private logOf(row: TableRow<'sessions'>): SessionRepresentation['log'] {
    const live = this.sessions.coordinator.find(keyOf(row));
    if (live === undefined) return null;
    const { headSeq, durableSeq, pending, active, barrier, automaticPaused, lastError, revision } = live.status();
    const problem = lastError === null ? null : problemOf(lastError);
    return { headSeq, durableSeq, pending, active, barrier, automaticPaused, lastError: problem, revision };
  }
}

/** The code of a problem of the medium; its words may hold paths. */
function problemOf(error: unknown): string {
  const code = (error as { readonly code?: unknown }).code;
  return typeof code === 'string' ? code : 'write_failed';
}

function rowRepresentation(row: SessionRow): SessionEventRepresentation {
  const place = row.kind === 'event' ? row : row.envelope;
  return {
    kind: row.kind,
    seq: row.seq,
    eventId: row.eventId,
    eventType: typeOf(row),
    runId: place.runId ?? null,
    turnId: place.turnId ?? null,
    stepId: place.stepId ?? null,
    toolCallId: place.toolCallId ?? null,
    producer: place.producer,
    occurredAt: place.occurredAt,
    recordedAt: place.recordedAt,
    synthetic: place.synthetic === true,
    position: row.kind === 'mirror' ? row.position : null,
    payload: row.kind === 'event' ? row.payload : null,
  };
}

const typeOf = (row: SessionRow): string => (row.kind === 'event' ? row.eventType : row.envelope.eventType);

/** Resolves when rows from `next` on may be durable, when the reader has gone, or when it is time to look anyway. */
function wakened(live: LiveSession, next: number, gone: AbortSignal): { promise: Promise<void>; cancel: () => void } {
  let cancel = (): void => {};
  const promise = new Promise<void>((resolve) => {
    const timer = after(LOOK_AGAIN_MS, () => cancel()).unref();
    const stop = live.onDurable((durableSeq) => {
      if (durableSeq >= next) cancel();
    });
    const onGone = (): void => cancel();
    gone.addEventListener('abort', onGone, { once: true });
    cancel = () => {
      timer.cancel();
      stop();
      gone.removeEventListener('abort', onGone);
      resolve();
    };
  });
  return { promise, cancel };
}

const cursorOf = (row: TableRow<'sessions'>): string =>
  Buffer.from(JSON.stringify([row.created_at, row.session_id])).toString('base64url');

function beforeOf(cursor: string | null): readonly [string, string] | null {
  if (cursor === null) return null;
  try {
    const value = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as unknown;
    if (Array.isArray(value) && typeof value[0] === 'string' && typeof value[1] === 'string')
      return [value[0], value[1]];
  } catch {
    // Refused below, like any other text that is no cursor of ours.
  }
  throw new CountersignError('invalid_request', 'the cursor is not one of this list', { pointer: '/cursor' });
}
