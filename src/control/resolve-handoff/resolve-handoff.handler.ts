import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import { CallInUnit } from '../../storage/units/call-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { CommandLog, type Acknowledged } from '../command-log.js';
import { loadOwnCall, requireOperator } from '../own-call.js';
import { ResolveHandoff } from './resolve-handoff.command.js';

/** Records a person's finding about a handed-off call, with its evidence, and closes the intent. */
@CommandHandler(ResolveHandoff)
export class ResolveHandoffHandler implements ICommandHandler<ResolveHandoff> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly log: CommandLog,
  ) {}

  async execute(command: ResolveHandoff): Promise<Acknowledged> {
    const { caller, toolCallId, commandId } = command;
    const { finding, evidenceRefs, note } = command.found;
    const asked = {
      type: 'resolve_handoff',
      target: { toolCallId },
      details: { finding, evidenceRefs, note },
      commandId,
    };
    return this.log.carryOut(caller, asked, async (start) => {
      requireOperator(caller);
      const loaded = await loadOwnCall(this.desk.read, caller, toolCallId);
      const { row, state } = loaded;
      if (state.status !== 'manual_handoff' || state.handoffId === null || state.resolution !== null) {
        throw new CountersignError('handoff_not_open', 'the call is not in a handoff without a finding', {
          toolCallId,
        });
      }
      if (finding !== 'unknowable' && evidenceRefs.length === 0) {
        throw new CountersignError('evidence_required', 'a finding needs at least one evidence reference', {
          pointer: '/evidenceRefs',
        });
      }
      const draft = start({ correlationId: row.correlation_id, runId: row.run_id, sessionId: row.session_id });
      new CallInUnit(draft, loaded).do({
        kind: 'resolve_handoff',
        finding: {
          handoffId: state.handoffId,
          finding,
          evidenceRefs,
          note,
          resolvedBy: caller.actor as unknown as JsonObject,
        },
      });
      return draft;
    });
  }
}
