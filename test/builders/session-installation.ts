import { AppendEvents } from '../../src/control/append-events/append-events.command.js';
import { AppendEventsHandler } from '../../src/control/append-events/append-events.handler.js';
import { AttachSession } from '../../src/control/attach-session/attach-session.command.js';
import { AttachSessionHandler } from '../../src/control/attach-session/attach-session.handler.js';
import type { AttachedSession } from '../../src/control/attach-session/attached-session.js';
import { DeleteSession } from '../../src/control/delete-session/delete-session.command.js';
import { DeleteSessionHandler } from '../../src/control/delete-session/delete-session.handler.js';
import { EndRun, type RunEnding } from '../../src/control/end-run/end-run.command.js';
import { EndRunHandler } from '../../src/control/end-run/end-run.handler.js';
import { FlushSession } from '../../src/control/flush-session/flush-session.command.js';
import { FlushSessionHandler } from '../../src/control/flush-session/flush-session.handler.js';
import { OpenSession } from '../../src/control/open-session/open-session.command.js';
import { OpenSessionHandler } from '../../src/control/open-session/open-session.handler.js';
import { StartRun } from '../../src/control/start-run/start-run.command.js';
import { StartRunHandler } from '../../src/control/start-run/start-run.handler.js';
import type { JsonObject } from '../../src/domain/json/json-value.js';
import type { RunCommand } from '../../src/domain/run/run.commands.js';
import type { NewSessionEvent } from '../../src/domain/session/session.append.js';
import type { SessionParent, SessionRow } from '../../src/domain/session/session-row.js';
import type { Caller } from '../../src/identity/caller.js';
import type { LiveSession } from '../../src/sessions/live-session.js';
import { SessionCoordinator, type CoordinatorRules } from '../../src/sessions/session-coordinator.js';
import { SessionDesk } from '../../src/sessions/session-desk.js';
import { SESSION_FOLD } from '../../src/sessions/session-folding.js';
import { SessionFollower } from '../../src/sessions/session-follower.worker.js';
import { SessionMirror } from '../../src/sessions/session-mirror.js';
import { StoreSessionRecord } from '../../src/sessions/store-session-record.js';
import { runFacts, runState } from '../../src/storage/rows/run.row.js';
import type { TableRow } from '../../src/storage/rows/tables.js';
import { RunInUnit } from '../../src/storage/units/run-in-unit.js';
import { Metrics } from '../../src/system/metrics/metrics.js';
import { KEY } from './conversation-examples.js';
import { AGENT, Installation, TENANT } from './installation.js';
import { ManualTimers } from './manual-timers.js';
import { deliveredContract } from './resume-examples.js';
import { FakeLogs, FakeSnapshots, settled } from './session-world.js';

const RULES: Omit<CoordinatorRules, 'fold'> = {
  holdsSecret: (payload) => JSON.stringify(payload).includes('sk_live_'),
  eventBytesMax: 10_000,
  batchEventsMax: 100,
  rowsKept: 10,
  writeBehind: { delayMs: 200, eventsMax: 1000, bytesMax: 10_000_000 },
  strictSnapshots: false,
  openMax: 100,
  idleCloseMs: 600_000,
  versionSetId: 'v1',
};

/** One process with durable sessions over a store, logs and snapshots in memory. A second one on the same parts is its restart. */
export class SessionInstallation {
  readonly timers = new ManualTimers();
  readonly record: StoreSessionRecord;
  readonly coordinator: SessionCoordinator;
  readonly mirror: SessionMirror;
  readonly follower: SessionFollower;
  readonly sessions: SessionDesk;

  constructor(
    readonly installation = new Installation(),
    readonly logs = new FakeLogs(),
    readonly snapshots = new FakeSnapshots(),
    rules: Partial<CoordinatorRules> = {},
  ) {
    const { desk, log, store, clock, ids } = installation;
    this.record = new StoreSessionRecord(desk, log, new Metrics());
    this.coordinator = new SessionCoordinator(
      { backend: logs, snapshots, record: this.record },
      { ...RULES, fold: SESSION_FOLD, ...rules },
      {
        clock,
        ids,
        after: this.timers.after,
        report: (name, key, details) => this.record.audit(name, key, details),
      },
    );
    this.mirror = new SessionMirror(store, this.coordinator, log);
    this.follower = new SessionFollower(this.coordinator, this.mirror, desk, log);
    this.sessions = new SessionDesk(this.coordinator, this.mirror, this.follower, this.record);
    this.mirror.start();
  }

  /** The process after this one. What this one had not written is gone. */
  async restarted(rules: Partial<CoordinatorRules> = {}): Promise<SessionInstallation> {
    await this.mirror.stop();
    return new SessionInstallation(this.installation, this.logs, this.snapshots, rules);
  }

  /** Everything that follows from what was done has been done. */
  async quiet(): Promise<void> {
    for (let turn = 0; turn < 5; turn += 1) {
      await settled();
      await this.follower.idle();
    }
  }

  get row(): TableRow<'sessions'> {
    const row = this.installation.store.rows('sessions').find(({ session_id: id }) => id === KEY.sessionId);
    if (row === undefined) throw new Error('the session was not opened');
    return row;
  }

  /** Of the usual session, which must be in memory. */
  get live(): LiveSession {
    const live = this.coordinator.find(KEY);
    if (live === undefined) throw new Error('the session is not in memory');
    return live;
  }

  get runRow(): TableRow<'runs'> {
    const row = this.installation.store.rows('runs').findLast(({ session_id: id }) => id === KEY.sessionId);
    if (row === undefined) throw new Error('no run was started');
    return row;
  }

  /** Of the log of the usual session, as they are on disk. */
  get rows(): readonly SessionRow[] {
    return this.logs.artefacts.get(KEY.sessionId)?.rows ?? [];
  }

  get types(): readonly string[] {
    return this.rows.map((row) => (row.kind === 'event' ? row.eventType : row.envelope.eventType));
  }

  open(metadata: JsonObject = {}, parent: SessionParent | null = null, sessionId = KEY.sessionId): Promise<unknown> {
    const { desk } = this.installation;
    const harness = { instanceId: 'harness-a', version: null };
    return new OpenSessionHandler(desk, this.sessions).execute(
      new OpenSession(AGENT, sessionId, metadata, harness, parent),
    );
  }

  attach(instanceId = 'harness-b'): Promise<AttachedSession> {
    const handler = new AttachSessionHandler(this.installation.desk, this.sessions, deliveredContract());
    return handler.execute(new AttachSession(AGENT, KEY.sessionId, { instanceId, version: null }));
  }

  append(events: readonly NewSessionEvent[], more: { ownerEpoch?: number; isDurable?: boolean } = {}) {
    const { ownerEpoch = this.row.owner_epoch, isDurable = false } = more;
    const expectedSeq = (this.coordinator.find(KEY)?.facts.headSeq ?? this.rows.length - 1) + 1;
    const batch = { ownerEpoch, expectedSeq, events, isAtomic: false, isDurable };
    const handler = new AppendEventsHandler(this.installation.desk, this.sessions);
    return handler.execute(new AppendEvents(AGENT, KEY.sessionId, batch));
  }

  flush() {
    return new FlushSessionHandler(this.installation.desk, this.sessions).execute(
      new FlushSession(AGENT, KEY.sessionId),
    );
  }

  async startRun(clientId = 'run-1'): Promise<string> {
    const handler = new StartRunHandler(this.installation.desk, this.sessions);
    const command = new StartRun(AGENT, KEY.sessionId, this.row.owner_epoch, clientId, null);
    const { runId } = await handler.execute(command);
    await this.quiet();
    return runId;
  }

  endRun(ending: RunEnding = { how: 'complete' }) {
    const handler = new EndRunHandler(this.installation.desk, this.sessions);
    return handler.execute(new EndRun(AGENT, this.runRow.run_id, ending));
  }

  delete(caller: Caller = AGENT): Promise<void> {
    return new DeleteSessionHandler(this.installation.desk, this.sessions).execute(
      new DeleteSession(caller, KEY.sessionId),
    );
  }

  /** Records what somebody else makes of the run. */
  async moveRun(...commands: readonly RunCommand[]): Promise<void> {
    const { desk } = this.installation;
    const row = this.runRow;
    const draft = desk.beginAbout(row, { lane: 'govern', causeKind: 'timer' });
    const run = new RunInUnit(draft, { state: runState(row), facts: runFacts(row) });
    for (const command of commands) run.do(command);
    await desk.commit(draft);
  }

  /** A turn whose model has answered with these calls. */
  async turnWithCalls(...callIds: readonly string[]): Promise<void> {
    const place = { runId: this.runRow.run_id, turnId: 'turn-1' };
    const step = { ...place, stepId: 'step-1' };
    const toolCalls = callIds.map((callId) => ({ callId, name: 'refund.create', arguments: {} }));
    const contents = [{ type: 'text', text: 'answer' }];
    await this.append([
      { eventType: 'turn.started', ...place, payload: {} },
      { eventType: 'step.started', ...step, payload: {} },
      { eventType: 'assistant.message', ...step, payload: { messageId: 'm-1', contents, toolCalls } },
    ]);
  }

  /** Proposes one of the calls of that turn; it is on the wire at once, unless the policy asks. */
  async propose(callId: string): Promise<string> {
    const place = { runId: this.runRow.run_id, turnId: 'turn-1', callId };
    const toolCallId = await this.installation.propose({ ...place, arguments: { orderId: callId, amountMinor: 1 } });
    await this.quiet();
    return toolCallId;
  }
}

/** `ok`, or the code of what it was refused with. */
export async function answerOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
    return 'ok';
  } catch (error) {
    return (error as { code?: unknown }).code ?? error;
  }
}

export { KEY, TENANT };
