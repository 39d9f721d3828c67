import { Injectable } from '@nestjs/common';
import { isEnded, type RunStatus } from '../domain/run/run.state.js';
import { runStatusOf } from '../domain/session/session-core.js';
import { isDurableWait, isOpenTurn, isSafePoint, turnStatusOf } from '../domain/session/turn.state.js';
import { runFacts, runState } from '../storage/rows/run.row.js';
import type { TableRow } from '../storage/rows/tables.js';
import { GuardFailed } from '../storage/unit.js';
import { RunInUnit } from '../storage/units/run-in-unit.js';
import { UnitDesk } from '../storage/units/unit-desk.js';
import { recordCheckpoint } from '../storage/units/wait-checkpoint.js';
import { Logger, errorName } from '../system/logger.js';
import type { LiveSession } from './live-session.js';
import { SessionCoordinator } from './session-coordinator.js';
import { SessionMirror } from './session-mirror.js';
import type { SavePoint } from './session-saves.js';

const RUNS_MAX = 1000;

/** What the end of a run is called where a snapshot is saved. */
const SAVED_AS: Readonly<Partial<Record<RunStatus, SavePoint>>> = {
  completed: 'complete',
  failed: 'error',
  stopped: 'cancelled',
  handed_off: 'cancelled',
};

/**
 * Does for the runs of live sessions what nobody else can: a run that is to be suspended arrives at a safe point, a run that has
 * ended has its turn closed and its last snapshot saved. Each step finds its own work done when it is repeated.
 */
@Injectable()
export class SessionFollower {
  private readonly followed = new WeakSet<LiveSession>();
  /** The run whose end was seen to, per session. */
  private readonly seenOff = new WeakMap<LiveSession, string>();
  private readonly busy = new Map<LiveSession, Promise<void>>();
  private readonly again = new Set<LiveSession>();

  constructor(
    private readonly coordinator: SessionCoordinator,
    private readonly mirror: SessionMirror,
    private readonly desk: UnitDesk,
    private readonly logger: Logger,
  ) {}

  follow(live: LiveSession): void {
    if (this.followed.has(live)) return;
    this.followed.add(live);
    // A run that had ended before the session was loaded was seen to then.
    const { lastRunId } = live.facts;
    if (lastRunId !== null && hasEnded(live, lastRunId)) this.seenOff.set(live, lastRunId);
    live.observe(() => this.wake(live));
    this.wake(live);
  }

  /** Looks at what time alone moves: waits that are over, sessions idle too long, marks that could not be written. */
  async tick(): Promise<void> {
    for (const run of await this.desk.read.suspendingRuns(RUNS_MAX)) {
      const live = this.coordinator.find({ tenant: run.tenant, sessionId: run.session_id });
      if (live !== undefined) this.wake(live);
      else await this.arrive(run);
    }
    await this.coordinator.saves.retryMarks();
    await this.coordinator.closeIdle();
    await this.idle();
  }

  async idle(): Promise<void> {
    while (this.busy.size > 0) await Promise.all(this.busy.values());
  }

  /** When nothing is being done for the runs of this session. */
  async settled(live: LiveSession): Promise<void> {
    for (let work = this.busy.get(live); work !== undefined; work = this.busy.get(live)) await work;
  }

  private wake(live: LiveSession): void {
    const { lastRunId } = live.facts;
    if (live.isClosed || lastRunId === null || !this.hasWork(live, lastRunId)) return;
    if (this.busy.has(live)) {
      this.again.add(live);
      return;
    }
    // In a job of its own: whoever woke this has more to say, and what is done here wakes it again.
    const work = Promise.resolve()
      .then(() => this.work(live, lastRunId))
      .finally(() => {
        this.busy.delete(live);
        if (this.again.delete(live)) this.wake(live);
      });
    this.busy.set(live, work);
  }

  private hasWork(live: LiveSession, runId: string): boolean {
    if (runStatusOf(live.facts, runId) === 'suspending') return true;
    return hasEnded(live, runId) && (this.seenOff.get(live) !== runId || live.hasOpenTurn);
  }

  private async work(live: LiveSession, runId: string): Promise<void> {
    try {
      if (hasEnded(live, runId)) await this.seeOff(live, runId);
      else await this.suspend(live, runId);
    } catch (error) {
      // Somebody else moved the run: what they recorded wakes this again.
      if (error instanceof GuardFailed || live.isClosed) return;
      this.logger.error('a run of a session could not be followed', { runId, error: errorName(error) });
    }
  }

  /** The turn of a run that is over ends with it, unless a call of it is still being carried out: its answer comes first. */
  private async seeOff(live: LiveSession, runId: string): Promise<void> {
    const status = runStatusOf(live.facts, runId);
    if (live.hasOpenTurn) live.closeTurn(status === 'stopped' ? 'stopped' : 'interrupted');
    if (this.seenOff.get(live) === runId) return;
    this.seenOff.set(live, runId);
    const point = status === 'none' ? undefined : SAVED_AS[status];
    if (point !== undefined) await this.coordinator.saves.save(live, point);
  }

  /** R9: at a safe point, or after the wait with what is unfinished cut off and answered. */
  private async suspend(live: LiveSession, runId: string): Promise<void> {
    const run = await this.desk.read.run(live.key.tenant, runId);
    if (run === null || run.status !== 'suspending') return;
    const { turn } = live.facts;
    if (!isSafePoint(turn, 'suspending')) {
      if (!(await this.isOverdue(run))) return;
      // What may have been sent is answered by its own record, and the turn waits for that (U-03).
      if (turn?.phase === 'model' || !this.waits(live)) live.cutStep();
    }
    const draft = this.desk.beginAbout(run, { lane: 'govern', causeKind: 'timer' });
    const suspension = { safePoint: turn === null ? 'no_open_turn' : turnStatusOf(turn) };
    new RunInUnit(draft, { state: runState(run), facts: runFacts(run) }).do(
      { kind: 'suspend', suspension },
      'session-runtime',
    );
    const durableSeq = await live.flush();
    recordCheckpoint(draft, { runId, sessionId: live.key.sessionId, ...turnOf(live) }, 'suspended', durableSeq);
    await this.desk.commit(draft);
    // The snapshot is to say that the run is suspended, and where it goes on.
    await this.mirror.caughtUp(live);
    // A failure is reported and marks nothing: the run is suspended whether or not its snapshot is newer.
    await this.coordinator.saves.save(live, 'suspended');
  }

  private waits({ facts: { turn } }: LiveSession): boolean {
    return isOpenTurn(turn) && isDurableWait(turn, 'suspending');
  }

  /** R11: a session that is not in memory has no harness to wait for. Its turn is closed when it is loaded. */
  private async arrive(run: TableRow<'runs'>): Promise<void> {
    const draft = this.desk.beginAbout(run, { lane: 'govern', causeKind: 'timer', synthetic: true });
    const before = { state: runState(run), facts: runFacts(run) };
    new RunInUnit(draft, before).do({ kind: 'interrupt', interruption: {} }, 'recovery');
    recordCheckpoint(draft, { runId: run.run_id, sessionId: run.session_id }, 'recovered');
    try {
      await this.desk.commit(draft);
    } catch (error) {
      if (!(error instanceof GuardFailed)) throw error;
    }
  }

  private async isOverdue(run: TableRow<'runs'>): Promise<boolean> {
    const events = await this.desk.read.streamEvents(run.tenant, { kind: 'run', id: run.run_id });
    const asked = events.findLast(({ envelope }) => envelope.eventType === 'run.suspend_requested');
    const waitMs = asked?.payload['waitLimitMs'];
    if (asked === undefined || typeof waitMs !== 'number') return true;
    return this.desk.clock.now() >= Date.parse(asked.envelope.occurredAt) + waitMs;
  }
}

const hasEnded = (live: LiveSession, runId: string): boolean => {
  const status = runStatusOf(live.facts, runId);
  return status !== 'none' && isEnded(status);
};

const turnOf = (live: LiveSession): { readonly turnId?: string } =>
  live.hasOpenTurn && live.facts.turn !== null ? { turnId: live.facts.turn.turnId } : {};
