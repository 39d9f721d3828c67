import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { ResumeContract } from '../../contracts/resume-contract.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { EventPayload } from '../../domain/events/catalogue.js';
import type { Caller } from '../../identity/caller.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { CheckpointInUnit, loadedCheckpoint } from '../../storage/units/checkpoint-in-unit.js';
import { RunInUnit } from '../../storage/units/run-in-unit.js';
import { sessionIsOwned } from '../../storage/units/session-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import type { UnitDraft } from '../../storage/units/unit-draft.js';
import { CommandLog, type Acknowledged } from '../command-log.js';
import { aboutRun, loadOwnRun, type LoadedRun } from '../own-run.js';
import { ResumeRun } from './resume-run.command.js';

/** Resumes a run: it goes on, it does not begin again. What waits in it to be sent is judged anew before it is sent. */
@CommandHandler(ResumeRun)
export class ResumeRunHandler implements ICommandHandler<ResumeRun> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly log: CommandLog,
    private readonly contract: ResumeContract,
  ) {}

  async execute({ caller, runId, reason, commandId }: ResumeRun): Promise<Acknowledged> {
    const asked = { type: 'resume', target: { runId }, details: { reason }, commandId };
    return this.log.carryOut(caller, asked, async (start) => {
      const loaded = await loadOwnRun(this.desk.read, caller, runId);
      const draft = start(aboutRun(loaded));
      const resumption = isOfSession(loaded) ? await this.fromCheckpoint(draft, caller, loaded) : {};
      new RunInUnit(draft, loaded).do({ kind: 'resume', resumption });
      return draft;
    });
  }

  /** R10: where the run goes on, under which versions, and for which harness. */
  private async fromCheckpoint(
    draft: UnitDraft,
    caller: Caller,
    { row: run }: LoadedRun,
  ): Promise<EventPayload<'run.resumed'>> {
    const { tenant } = caller;
    const session = await this.desk.read.session(tenant, run.session_id);
    // Whoever was attached before the interruption is gone; somebody must be there to go on.
    if (session === null || session.harness_instance_id === null || isLeft(run, session)) {
      throw new CountersignError('not_at_safe_point', 'no harness has attached since the run was interrupted');
    }
    const { owner_epoch: ownerEpoch } = session;
    draft.guard(sessionIsOwned({ tenant, sessionId: run.session_id }, ownerEpoch));
    const checkpoint = (await this.desk.read.openCheckpoints(tenant, run.run_id)).at(-1);
    if (checkpoint === undefined) return { ownerEpoch };
    const stream = { kind: 'checkpoint', id: checkpoint.checkpoint_id } as const;
    const [created] = await this.desk.read.streamEvents(tenant, stream);
    const decision = this.contract.run(created?.envelope.versionSetId ?? '');
    const checkpointId = checkpoint.checkpoint_id;
    new CheckpointInUnit(draft, loadedCheckpoint(checkpoint)).do({
      kind: 'decide_compatibility',
      decision: { checkpointId, ...decision },
    });
    return { checkpointId, ownerEpoch };
  }
}

const isOfSession = ({ row }: LoadedRun): boolean => row.session_id !== row.run_id;

const isLeft = (run: TableRow<'runs'>, session: TableRow<'sessions'>): boolean =>
  run.status === 'interrupted' && session.updated_at < run.updated_at;
