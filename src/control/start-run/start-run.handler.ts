import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { ID_PREFIXES } from '../../domain/ids/ids.js';
import { principalOf } from '../../domain/principal.js';
import { SessionDesk } from '../../sessions/session-desk.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { GuardFailed } from '../../storage/unit.js';
import { RunInUnit } from '../../storage/units/run-in-unit.js';
import { sessionIsOwned } from '../../storage/units/session-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { recordCheckpoint } from '../../storage/units/wait-checkpoint.js';
import { loadOwnSession, mustOwn } from '../own-session.js';
import { beginInRun } from '../own-run.js';
import { StartRun } from './start-run.command.js';

const TRIES_MAX = 3;

/** R1: one run at a time in a session, and only its present owner begins one. */
@CommandHandler(StartRun)
export class StartRunHandler implements ICommandHandler<StartRun> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly sessions: SessionDesk,
  ) {}

  async execute(command: StartRun): Promise<{ readonly runId: string; readonly started: boolean }> {
    const { caller, sessionId, ownerEpoch } = command;
    // Labels are unique per principal, names of runs per session.
    const label = `session:${sessionId}/${command.clientId}`;
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const session = await loadOwnSession(this.desk.read, caller, sessionId);
      mustOwn(session, ownerEpoch);
      const open = await this.desk.read.openRunOfSession(caller.tenant, sessionId);
      if (open !== null) return this.same(open, label);
      // What led to the run is on disk before the run is: the checkpoint says up to where.
      const live = await this.sessions.open(session);
      await this.sessions.mustTakeRuns(live);
      const durableSeq = await live.flush();
      try {
        return { runId: await this.start(command, session, { label, durableSeq }), started: true };
      } catch (error) {
        if (!(error instanceof GuardFailed)) throw error;
      }
    }
    throw new CountersignError('contended', 'other writers changed the same records three times in a row');
  }

  private same(open: TableRow<'runs'>, label: string): { readonly runId: string; readonly started: boolean } {
    if (open.label === label) return { runId: open.run_id, started: false };
    throw new CountersignError('run_already_active', `a run of the session is ${open.status}`);
  }

  private async start(
    command: StartRun,
    session: TableRow<'sessions'>,
    { label, durableSeq }: { readonly label: string; readonly durableSeq: number },
  ): Promise<string> {
    const { caller, ownerEpoch, goalRef } = command;
    const now = this.desk.now();
    const runId = this.desk.newId(ID_PREFIXES.run);
    const place = { run_id: runId, session_id: session.session_id };
    const facts = { ...place, tenant: caller.tenant, version: 0, created_at: now, updated_at: now };
    const draft = beginInRun(this.desk, caller, place, { lane: 'admit', now });
    const key = { tenant: caller.tenant, sessionId: session.session_id };
    draft.guard(sessionIsOwned(key, ownerEpoch));
    const start = { implicit: false, label, principal: { ...principalOf(caller.actor) }, goalRef };
    new RunInUnit(draft, { state: null, facts }).do({ kind: 'start', start });
    recordCheckpoint(draft, { runId, sessionId: session.session_id }, 'after_user_input', durableSeq);
    await this.desk.commit(draft);
    return runId;
  }
}
