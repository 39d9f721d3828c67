import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { ID_PREFIXES } from '../../domain/ids/ids.js';
import { principalKey, principalOf } from '../../domain/principal.js';
import { GuardFailed } from '../../storage/unit.js';
import { RunInUnit } from '../../storage/units/run-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { beginInRun } from '../own-run.js';
import { OpenRun, type OpenedRun } from './open-run.command.js';

const TRIES_MAX = 3;

/** The same rule as for a first proposal under a label: one open run per label, and the loser of a race gets the winner's. */
@CommandHandler(OpenRun)
export class OpenRunHandler implements ICommandHandler<OpenRun> {
  constructor(private readonly desk: UnitDesk) {}

  async execute({ caller, label: word, goalRef }: OpenRun): Promise<OpenedRun> {
    const principal = principalOf(caller.actor);
    const label = `label:${word}`;
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const open = await this.desk.read.openRunByLabel(caller.tenant, principalKey(principal), label);
      if (open !== null) return { runId: open.run_id, opened: false };
      const now = this.desk.now();
      const runId = this.desk.newId(ID_PREFIXES.run);
      const place = { run_id: runId, session_id: runId };
      const facts = { ...place, tenant: caller.tenant, version: 0, created_at: now, updated_at: now };
      const draft = beginInRun(this.desk, caller, place, { lane: 'admit', now });
      const start = { implicit: true, label, principal: { ...principal }, goalRef };
      new RunInUnit(draft, { state: null, facts }).do({ kind: 'start', start });
      try {
        await this.desk.commit(draft);
        return { runId, opened: true };
      } catch (error) {
        if (!(error instanceof GuardFailed)) throw error;
      }
    }
    throw new CountersignError('contended', 'other writers changed the same records three times in a row');
  }
}
