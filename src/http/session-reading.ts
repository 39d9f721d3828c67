import { Injectable } from '@nestjs/common';
import type {
  InspectAnswer,
  SessionEventPage,
  SessionEventRepresentation,
  SessionPage,
  SessionRepresentation,
  StateRepresentation,
} from '../client/contract/sessions.js';
import { SessionAccess, type SessionView } from '../control/read-session/session-access.js';
import type { SavedState } from '../control/save-state/save-state.command.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import type { JsonObject } from '../domain/json/json-value.js';
import type { SessionKey } from '../domain/session/session-key.js';
import type { SessionRow } from '../domain/session/session-row.js';
import type { Caller } from '../identity/caller.js';
import type { LiveSession } from '../sessions/live-session.js';
import { SessionCoordinator } from '../sessions/session-coordinator.js';
import type { FoldedState } from '../sessions/session-fold.js';
import { after } from '../system/timers.js';
import type { StreamedEvent } from './event-stream.js';

const PAGE = 500;
/** After this a follower looks by itself, so that one that was never woken ends with its reader. */
const LOOK_AGAIN_MS = 15_000;

const ENDS_A_STREAM: ReadonlySet<string> = new Set(['session_deleted', 'session_not_found', 'persistence_closed']);

interface Wakening {
  readonly promise: Promise<void>;
  readonly cancel: () => void;
}

/** Sessions as they are shown. Rows of the log are shown only when they are on disk. */
@Injectable()
export class SessionReading {
  /** How to wake each follower that waits. */
  private readonly asleep = new Set<() => void>();
  private isClosed = false;

  constructor(
    private readonly access: SessionAccess,
    private readonly sessions: SessionCoordinator,
  ) {}

  /** The process is stopping: every stream ends, and none begins. */
  close(): void {
    this.isClosed = true;
    for (const wake of this.asleep) wake();
  }

  async show(caller: Caller, sessionId: string): Promise<SessionRepresentation> {
    return this.represent(await this.access.view(caller, sessionId));
  }

  async list(caller: Caller, limit: number, cursor: string | null): Promise<SessionPage> {
    const { items, nextCursor } = await this.access.list(caller, limit, cursor);
    return { items: items.map((view) => this.represent(view)), nextCursor };
  }

  async state(caller: Caller, sessionId: string): Promise<StateRepresentation> {
    const live = await this.access.live(caller, sessionId);
    const { headSeq: lastSeq, lastEventId } = live.facts;
    return { ...stateAt(live.state(), { lastSeq, lastEventId }), canResume: live.canGoOn, saved: false };
  }

  async page(caller: Caller, sessionId: string, fromSeq: number, limit: number): Promise<SessionEventPage> {
    const live = await this.access.live(caller, sessionId);
    const rows = await live.rowsFrom(fromSeq, limit);
    const { headSeq, durableSeq } = live.status();
    const next = fromSeq + rows.length;
    return { items: rows.map(rowRepresentation), nextSeq: next <= durableSeq ? next : null, headSeq, durableSeq };
  }

  /** Rows from `fromSeq` on as they become durable, until `gone`, the end of the process or that of the session. */
  async *follow(
    caller: Caller,
    sessionId: string,
    fromSeq: number,
    gone: AbortSignal,
  ): AsyncGenerator<readonly StreamedEvent[]> {
    let next = fromSeq;
    while (!gone.aborted && !this.isClosed) {
      // Anew each time: an idle session may have been closed in memory meanwhile, and access may have ended.
      const live = await this.followed(caller, sessionId);
      if (live === null) return;
      const woken = this.wakened(live, next, gone);
      let rows: readonly SessionRow[] = [];
      try {
        rows = await live.rowsFrom(next, PAGE);
        if (rows.length === 0) await woken.promise;
      } finally {
        woken.cancel();
      }
      if (rows.length === 0) continue;
      next += rows.length;
      yield rows.map((row) => ({
        position: row.seq,
        eventType: typeOf(row),
        json: JSON.stringify(rowRepresentation(row)),
      }));
    }
  }

  async inspect(caller: Caller, sessionId: string, isDeep: boolean): Promise<InspectAnswer> {
    const report = await this.sessions.inspect(await this.access.keyForOperator(caller, sessionId), { isDeep });
    const [problem] = report.problems;
    return {
      sessionId,
      verdict: report.log === 'whole' ? (report.isTorn ? 'torn' : (report.tail ?? 'whole')) : report.log,
      code: problem?.split(':')[0] ?? null,
      report: report as unknown as JsonObject,
    };
  }

  async raw(caller: Caller, sessionId: string): Promise<string> {
    return this.sessions.readRaw(await this.access.keyForOperator(caller, sessionId));
  }

  /** Null: the session is gone, or the process is going. */
  private async followed(caller: Caller, sessionId: string): Promise<LiveSession | null> {
    try {
      return await this.access.live(caller, sessionId);
    } catch (error) {
      if (error instanceof CountersignError && ENDS_A_STREAM.has(error.code)) return null;
      throw error;
    }
  }

  /** Resolves when rows from `next` on may be durable, when there is nobody to send them to, or when it is time to look anyway. */
  private wakened(live: LiveSession, next: number, gone: AbortSignal): Wakening {
    let cancel = (): void => {};
    const promise = new Promise<void>((resolve) => {
      const timer = after(LOOK_AGAIN_MS, () => cancel()).unref();
      const stop = live.onDurable((durableSeq) => {
        if (durableSeq >= next) cancel();
      });
      cancel = () => {
        timer.cancel();
        stop();
        gone.removeEventListener('abort', cancel);
        this.asleep.delete(cancel);
        resolve();
      };
      gone.addEventListener('abort', cancel, { once: true });
      this.asleep.add(cancel);
      // The end may have come while the session was being opened.
      if (gone.aborted || this.isClosed) cancel();
    });
    return { promise, cancel };
  }

  private represent({ key, ...view }: SessionView): SessionRepresentation {
    const path = `/v1/sessions/${encodeURIComponent(key.sessionId)}`;
    return {
      sessionId: key.sessionId,
      ...view,
      principal: { sub: view.principal.sub, act: view.principal.act ?? null },
      parent: view.parent === null ? null : { ...view.parent },
      log: this.logOf(key),
      links: { self: path, events: `${path}/events`, state: `${path}/state` },
    };
  }

  private logOf(key: SessionKey): SessionRepresentation['log'] {
    const live = this.sessions.find(key);
    if (live === undefined) return null;
    const { headSeq, durableSeq, pending, active, barrier, automaticPaused, lastError, revision } = live.status();
    const problem = lastError === null ? null : problemOf(lastError);
    return { headSeq, durableSeq, pending, active, barrier, automaticPaused, lastError: problem, revision };
  }
}

/** What was saved, and not what the session has come to since. */
export function savedRepresentation({ snapshot, canResume }: SavedState): StateRepresentation {
  const position = snapshot.position ?? { lastSeq: -1, lastEventId: null };
  return { ...stateAt(snapshot, position), canResume, saved: true };
}

function stateAt(
  { agentState, runState }: FoldedState,
  { lastSeq, lastEventId }: StateRepresentation['position'],
): Omit<StateRepresentation, 'canResume' | 'saved'> {
  return {
    sessionId: agentState.sessionId,
    position: { lastSeq, lastEventId },
    agentState: agentState as unknown as JsonObject,
    runState: runState as unknown as JsonObject | null,
  };
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
