import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { RunInUnit } from '../../storage/units/run-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { CommandLog, type Acknowledged } from '../command-log.js';
import { aboutRun, loadOwnRun } from '../own-run.js';
import { ResumeRun } from './resume-run.command.js';

/** Resumes a run: it goes on, it does not begin again. What waits in it to be sent is judged anew before it is sent. */
@CommandHandler(ResumeRun)
export class ResumeRunHandler implements ICommandHandler<ResumeRun> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly log: CommandLog,
  ) {}

  async execute({ caller, runId, reason, commandId }: ResumeRun): Promise<Acknowledged> {
    const asked = { type: 'resume', target: { runId }, details: { reason }, commandId };
    return this.log.carryOut(caller, asked, async (start) => {
      const loaded = await loadOwnRun(this.desk.read, caller, runId);
      const draft = start(aboutRun(loaded));
      new RunInUnit(draft, loaded).do({ kind: 'resume', resumption: {} });
      return draft;
    });
  }
}
