import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { isEnded } from '../../domain/run/run.state.js';
import { GuardFailed } from '../../storage/unit.js';
import { RunInUnit } from '../../storage/units/run-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { beginInRun, loadOwnRun } from '../own-run.js';
import { EndSubagent, type EndedSubagent } from './end-subagent.command.js';

const TRIES_MAX = 3;

/** Records how a helper ended, once; the same end again is the same answer. */
@CommandHandler(EndSubagent)
export class EndSubagentHandler implements ICommandHandler<EndSubagent> {
  constructor(private readonly desk: UnitDesk) {}

  async execute(command: EndSubagent): Promise<EndedSubagent> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      try {
        return await this.end(command);
      } catch (error) {
        if (!(error instanceof GuardFailed)) throw error;
      }
    }
    throw new CountersignError('contended', 'other writers changed the same records three times in a row');
  }

  private async end({ caller, runId, subagentId, end }: EndSubagent): Promise<EndedSubagent> {
    const run = await loadOwnRun(this.desk.read, caller, runId);
    const row = await this.desk.read.runObject(caller.tenant, subagentId);
    if (row === null || row.kind !== 'subagent' || row.run_id !== runId) {
      throw new CountersignError('not_found', 'there is no such sub-agent in this run');
    }
    const answer = { subagentId, runId, status: end.status, late: isEnded(run.state.status) };
    if (row.state === end.status) return answer;
    if (row.state !== 'running') throw new CountersignError('duplicate_id', `the sub-agent has ${row.state} already`);
    const now = this.desk.now();
    const draft = beginInRun(this.desk, caller, run.row, { lane: 'admit', now, correlationId: row.correlation_id });
    const payload = { subagentId, resultRef: end.resultRef, status: end.status };
    new RunInUnit(draft, run).do(
      { kind: 'end_subagent', end: payload, succeeded: end.status === 'completed' },
      'harness',
    );
    draft.write({
      op: 'set',
      table: 'run_objects',
      where: { object_id: subagentId, state: 'running' },
      set: { state: end.status, updated_at: now },
      guard: 'run_object',
    });
    await this.desk.commit(draft);
    return answer;
  }
}
