import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { decideRun } from '../../domain/run/run.decide.js';
import type { RunCommand } from '../../domain/run/run.commands.js';
import { isOpenTurn } from '../../domain/session/turn.state.js';
import type { ToolCallStatus } from '../../domain/tool-call/tool-call.state.js';
import type { Caller } from '../../identity/caller.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { SessionDesk } from '../../sessions/session-desk.js';
import { GuardFailed, type Guard } from '../../storage/unit.js';
import { openCheckpointsOf } from '../../storage/readers/session-records.js';
import { archiveCheckpoints } from '../../storage/units/checkpoint-in-unit.js';
import { closePlanReview, hasNoPendingPlanReview } from '../../storage/units/plan-review-in-unit.js';
import { closeUnsent } from '../../storage/units/close-unsent.js';
import { callFromRow, loadApproval } from '../../storage/units/load.js';
import { revokeRunLeases } from '../../storage/units/lease-in-unit.js';
import { RunInUnit } from '../../storage/units/run-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { beginInRun, loadOwnRun, type LoadedRun } from '../own-run.js';
import { EndRun, type RunEnding } from './end-run.command.js';

const TRIES_MAX = 3;
const CALLS_MAX = 1000;

/** Nothing of these has been sent. */
const WAITING: readonly ToolCallStatus[] = ['proposed', 'authorized'];
/** Nobody observes these but the process that carries them. */
const CARRIED: readonly ToolCallStatus[] = ['dispatching', 'dispatched'];

/**
 * R15, R16. A run completes when nobody is asked about a plan of it and every call has ended or is handed over to somebody
 * who will find out; a failed one first gives up what has not been sent. What is on the wire goes on either way, and later
 * facts still land.
 */
@CommandHandler(EndRun)
export class EndRunHandler implements ICommandHandler<EndRun> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly sessions: SessionDesk,
  ) {}

  async execute({ caller, runId, ending }: EndRun): Promise<{ readonly runId: string }> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const run = await loadOwnRun(this.desk.read, caller, runId);
      if (isSaidBefore(run, ending)) return { runId };
      try {
        if (ending.how === 'complete') await this.complete(caller, run);
        else await this.fail(caller, run, ending);
        return { runId };
      } catch (error) {
        if (!(error instanceof GuardFailed)) throw error;
      }
    }
    throw new CountersignError('contended', 'other writers changed the same records three times in a row');
  }

  private async complete(caller: Caller, run: LoadedRun): Promise<void> {
    await this.mustHaveEndedItsTurn(run);
    const open = await this.desk.read.openCalls(caller.tenant, run.row.run_id, CALLS_MAX);
    const unsettled = open.filter(({ status }) => WAITING.includes(status) || CARRIED.includes(status));
    const review = await this.desk.read.latestPlanReview(caller.tenant, run.row.run_id);
    const reviews = review?.status === 'pending' ? 1 : 0;
    const handedOver = open.filter((call) => !unsettled.includes(call)).map((call) => call.tool_call_id);
    await this.end(caller, run, [...WAITING, ...CARRIED], {
      kind: 'complete',
      completion: { handedOver },
      openCalls: unsettled.length + reviews,
    });
  }

  /** A turn is in the log of the session and not in the store; whoever ends it is who completes the run. */
  private async mustHaveEndedItsTurn({ row }: LoadedRun): Promise<void> {
    // One that is not running is refused for what it is.
    if (row.implicit === 1 || row.status !== 'running') return;
    const session = await this.desk.read.session(row.tenant, row.session_id);
    if (session === null) return;
    const { turn } = (await this.sessions.open(session)).facts;
    if (isOpenTurn(turn) && turn.runId === row.run_id) {
      throw new CountersignError('run_has_open_work', 'a turn of the run is open');
    }
  }

  private async fail(caller: Caller, run: LoadedRun, ending: RunEnding & { how: 'fail' }): Promise<void> {
    const { code, message } = ending;
    const command = { kind: 'fail', failure: { lastError: { code, message } } } as const;
    const decided = decideRun(run.state, command);
    // Before anything is given up for it.
    if (!decided.ok) throw new CountersignError(decided.code, decided.message);
    const open = await this.desk.read.openCalls(caller.tenant, run.row.run_id, CALLS_MAX);
    for (const row of open) if (WAITING.includes(row.status)) await this.giveUp(caller, row);
    await this.end(caller, run, WAITING, command);
  }

  private async end(
    caller: Caller,
    run: LoadedRun,
    none: readonly ToolCallStatus[],
    command: RunCommand,
  ): Promise<void> {
    const draft = beginInRun(this.desk, caller, run.row, { lane: 'govern', now: this.desk.now() });
    await revokeRunLeases(this.desk.read, draft, run.row, 'run_ended');
    new RunInUnit(draft, run).do(command, 'session-runtime');
    if (command.kind === 'complete') draft.guard(hasNoPendingPlanReview(run.row.run_id));
    else await closePlanReview(this.desk.read, draft, run.row);
    archiveCheckpoints(draft, await openCheckpointsOf(this.desk.read, run.row));
    await this.desk.commit(draft.guard(hasNoCall(run.row.run_id, none)));
  }

  private async giveUp(caller: Caller, row: TableRow<'tool_calls'>): Promise<void> {
    const correlationId = row.correlation_id;
    const draft = beginInRun(this.desk, caller, row, { lane: 'govern', now: this.desk.now(), correlationId });
    const approval =
      row.approval_id === null ? null : await loadApproval(this.desk.read, caller.tenant, row.approval_id);
    closeUnsent(draft, await callFromRow(this.desk.read, row), approval, 'run_ended', 'control-plane');
    await this.desk.commit(draft);
  }
}

/** The same end again is answered as the first was. */
function isSaidBefore({ row }: LoadedRun, ending: RunEnding): boolean {
  return ending.how === 'complete'
    ? row.status === 'completed'
    : row.status === 'failed' && row.end_reason === ending.code;
}

const hasNoCall = (runId: string, statuses: readonly ToolCallStatus[]): Guard => ({
  name: 'no_open_call',
  table: 'tool_calls',
  where: { run_id: runId, status: { oneOf: statuses } },
  expect: 'absent',
});
