import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { isTerminal, type ToolCallStatus } from '../../domain/tool-call/tool-call.state.js';
import { revokeRunLeases } from '../../storage/units/lease-in-unit.js';
import { RunInUnit } from '../../storage/units/run-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { CommandLog, type Acknowledged } from '../command-log.js';
import { aboutRun, loadOwnRun } from '../own-run.js';
import { StopRun } from './stop-run.command.js';

const CARRIED: readonly ToolCallStatus[] = ['dispatching', 'dispatched'];

/**
 * Records that a run is to stop: from this unit on nothing is proposed or dispatched in it. What then becomes of its
 * calls are facts of their own, recorded as they happen; this command claims none of them.
 */
@CommandHandler(StopRun)
export class StopRunHandler implements ICommandHandler<StopRun> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly log: CommandLog,
  ) {}

  async execute({ caller, runId, modelActive, reason, commandId }: StopRun): Promise<Acknowledged> {
    const details = { reason, ...(modelActive ? { modelActive } : {}) };
    const asked = { type: 'stop', target: { runId }, details, commandId };
    return this.log.carryOut(caller, asked, async (start, now) => {
      const run = await loadOwnRun(this.desk.read, caller, runId);
      const open = await this.desk.read.callsInStop(caller.tenant, runId, now);
      const draft = start(aboutRun(run));
      const scope = open.filter(({ status }) => !isTerminal(status)).map(({ tool_call_id }) => tool_call_id);
      const request = { scope, modelActive, requestedBy: caller.actor.sub };
      new RunInUnit(draft, run).do({ kind: 'request_stop', request });
      // What the proxy itself has on the wire is asked to stop; whoever else holds a token is not to begin.
      const onTheWire = new Set(open.filter(({ status }) => CARRIED.includes(status)).map((call) => call.tool_call_id));
      const isCarried = ({ mode, tool_call_id }: TableRow<'leases'>) => mode !== 'token' && onTheWire.has(tool_call_id);
      await revokeRunLeases(this.desk.read, draft, run.row, 'stopped', isCarried);
      return draft;
    });
  }
}
