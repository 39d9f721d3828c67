import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Settings } from '../../config/settings.js';
import { RunInUnit } from '../../storage/units/run-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { CommandLog, type Acknowledged } from '../command-log.js';
import { aboutRun, loadOwnRun } from '../own-run.js';
import { SuspendRun } from './suspend-run.command.js';

/**
 * Suspends a run. One that was opened implicitly has no turn and is always at a safe point, so it is suspended at once;
 * any other waits for its harness to reach one. Calls on the wire go on, approvals may still be decided, nothing new is
 * proposed or sent.
 */
@CommandHandler(SuspendRun)
export class SuspendRunHandler implements ICommandHandler<SuspendRun> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly log: CommandLog,
    private readonly settings: Settings,
  ) {}

  async execute({ caller, runId, reason, commandId }: SuspendRun): Promise<Acknowledged> {
    const asked = { type: 'suspend', target: { runId }, details: { reason }, commandId };
    return this.log.carryOut(caller, asked, async (start) => {
      const loaded = await loadOwnRun(this.desk.read, caller, runId);
      const draft = start(aboutRun(loaded));
      const run = new RunInUnit(draft, loaded).do({
        kind: 'request_suspend',
        request: loaded.state.implicit ? {} : { waitLimitMs: this.settings.sessions.suspendWaitMs },
      });
      if (loaded.state.implicit) run.do({ kind: 'suspend', suspension: { safePoint: 'no_open_turn' } });
      return draft;
    });
  }
}
