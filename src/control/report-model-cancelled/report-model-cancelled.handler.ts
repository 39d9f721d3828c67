import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { GuardFailed } from '../../storage/unit.js';
import { RunInUnit } from '../../storage/units/run-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { aboutRun, loadOwnRun } from '../own-run.js';
import { ReportModelCancelled } from './report-model-cancelled.command.js';

const TRIES_MAX = 3;

/** Records the report as the fact it is. Reporting twice, or about a model that was not active, records nothing. */
@CommandHandler(ReportModelCancelled)
export class ReportModelCancelledHandler implements ICommandHandler<ReportModelCancelled> {
  constructor(private readonly desk: UnitDesk) {}

  async execute({ caller, runId }: ReportModelCancelled): Promise<void> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const loaded = await loadOwnRun(this.desk.read, caller, runId);
      const draft = this.desk.begin({
        tenant: caller.tenant,
        lane: 'govern',
        actor: caller.actor,
        occurredAt: this.desk.now(),
        causationId: null,
        causeKind: 'external',
        ...aboutRun(loaded),
      });
      new RunInUnit(draft, loaded).do({ kind: 'cancel_model', cancellation: { basis: 'reported' } });
      if (draft.isEmpty) return;
      try {
        await this.desk.commit(draft);
        return;
      } catch (error) {
        if (!(error instanceof GuardFailed)) throw error;
      }
    }
    throw new CountersignError('contended', 'other writers changed the run three times in a row');
  }
}
