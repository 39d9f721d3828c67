import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { ResumeContract } from '../../contracts/resume-contract.js';
import type { Caller } from '../../identity/caller.js';
import type { LiveSession } from '../../sessions/live-session.js';
import { SessionDesk } from '../../sessions/session-desk.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { callFromRow } from '../../storage/units/load.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { loadOwnSession } from '../own-session.js';
import { attachHarness } from './attach-harness.js';
import type { AttachedSession } from './attached-session.js';
import { AttachSession } from './attach-session.command.js';
import { recoveryOf, type KnownCall } from './resume-packet.js';

const CALLS_MAX = 200;
const OPEN_MAX = 1000;
const QUESTIONS_MAX = 200;

/** Loads first: a session that cannot be trusted is refused before anybody loses it to a new owner. */
@CommandHandler(AttachSession)
export class AttachSessionHandler implements ICommandHandler<AttachSession> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly sessions: SessionDesk,
    private readonly contract: ResumeContract,
  ) {}

  async execute(command: AttachSession): Promise<AttachedSession> {
    const { caller, sessionId } = command;
    const before = await loadOwnSession(this.desk.read, caller, sessionId);
    const wasLive = this.sessions.isLive(before);
    const durableSeq = await (await this.sessions.open(before)).flush();
    const row = await attachHarness(this.desk, caller, sessionId, { harness: command.harness, durableSeq });
    const live = await this.sessions.open(row);
    return this.packetOf(caller, row, live, wasLive ? 'live' : live.loadSource);
  }

  private async packetOf(
    caller: Caller,
    row: TableRow<'sessions'>,
    live: LiveSession,
    loadedFrom: string,
  ): Promise<AttachedSession> {
    const { tenant } = caller;
    const { agentState, runState } = live.state();
    const run = await this.desk.read.openRunOfSession(tenant, row.session_id);
    const runId = run?.run_id ?? runState?.run.runId ?? null;
    const calls = runId === null ? [] : await this.callsOf(tenant, runId);
    const canResume = live.canGoOn;
    const waitingCalls = live.facts.turn?.unanswered ?? [];
    const checkpoint =
      run === null ? null : ((await this.desk.read.openCheckpoints(tenant, run.run_id)).at(-1) ?? null);
    const { headSeq, durableSeq } = live.status();
    return {
      sessionId: row.session_id,
      ownerEpoch: row.owner_epoch,
      headSeq,
      durableSeq,
      canResume,
      notResumableReason: canResume ? null : 'the end of its last run could not be saved',
      loadedFrom,
      history: this.sessions.history(live),
      waitingCalls,
      state: agentState,
      runState,
      pendingApprovals: run === null ? [] : await this.desk.read.questionsOfRun(tenant, run.run_id, QUESTIONS_MAX),
      versions: checkpoint === null ? null : await this.versionsOf(tenant, checkpoint),
      checkpoint,
      ...recoveryOf({ run: run?.status ?? null, canResume, waitingCalls }, calls),
    };
  }

  /** The last calls of the run, and every one that is open however long ago it was proposed; the oldest first. */
  private async callsOf(tenant: string, runId: string): Promise<readonly KnownCall[]> {
    const [{ rows: last }, open] = await Promise.all([
      this.desk.read.toolCalls({ tenant, runId, limit: CALLS_MAX }),
      this.desk.read.openCalls(tenant, runId, OPEN_MAX),
    ]);
    const rows = new Map([...open, ...last].map((row) => [row.tool_call_id, row]));
    const calls = [...rows.values()].toSorted(byTime).map(async (row) => ({
      toolCallId: row.tool_call_id,
      callId: row.call_id,
      turnId: row.turn_id,
      state: (await callFromRow(this.desk.read, row)).state,
    }));
    return Promise.all(calls);
  }

  private async versionsOf(tenant: string, checkpoint: TableRow<'checkpoints'>): Promise<AttachedSession['versions']> {
    const stream = { kind: 'checkpoint', id: checkpoint.checkpoint_id } as const;
    const [created] = await this.desk.read.streamEvents(tenant, stream);
    return created === undefined ? null : this.contract.run(created.envelope.versionSetId);
  }
}

const byTime = (a: TableRow<'tool_calls'>, b: TableRow<'tool_calls'>): number =>
  a.created_at === b.created_at ? (a.tool_call_id < b.tool_call_id ? -1 : 1) : a.created_at < b.created_at ? -1 : 1;
