import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CapabilityGate } from '../../capabilities/capability-gate.js';
import { compensationArguments } from '../../capabilities/compensation-arguments.js';
import type { Compensation } from '../../capabilities/manifest.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { JsonObject, JsonValue } from '../../domain/json/json-value.js';
import { principalKey, principalOf } from '../../domain/principal.js';
import { RUN_OPEN_STATUSES } from '../../domain/run/run.state.js';
import { compensationRefusal } from '../../domain/tool-call/tool-call.compensate.js';
import type { Caller } from '../../identity/caller.js';
import type { LoadedCall } from '../../storage/units/load.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { loadOwnCall } from '../own-call.js';
import type { Proposal, Proposed } from '../propose-tool-call/propose-tool-call.command.js';
import { ProposeToolCall } from '../propose-tool-call/propose-tool-call.command.js';
import { ProposeToolCallHandler } from '../propose-tool-call/propose-tool-call.handler.js';
import { CompensateToolCall } from './compensate-tool-call.command.js';

/**
 * A compensation is a call like any other: proposed under its own key, judged, countersigned where policy says so, sent
 * at most once. The original stays what it is; the two name each other. Nothing here happens by itself.
 */
@CommandHandler(CompensateToolCall)
export class CompensateToolCallHandler implements ICommandHandler<CompensateToolCall> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly gate: CapabilityGate,
    private readonly proposing: ProposeToolCallHandler,
  ) {}

  async execute({ caller, toolCallId, reason }: CompensateToolCall): Promise<Proposed> {
    const original = await loadOwnCall(this.desk.read, caller, toolCallId);
    const earlier = proposedBefore(original);
    if (earlier !== null) return earlier;
    const proposal = await this.proposalFor(caller, original, reason);
    try {
      return await this.proposing.execute(new ProposeToolCall(caller, proposal));
    } catch (error) {
      if (!(error instanceof CountersignError) || error.code !== 'contended') throw error;
      // Somebody else may have proposed it meanwhile: there is one compensation of a call.
      const raced = proposedBefore(await loadOwnCall(this.desk.read, caller, toolCallId));
      if (raced === null) throw error;
      return raced;
    }
  }

  private async proposalFor(caller: Caller, original: LoadedCall, reason: string | null): Promise<Proposal> {
    const { row } = original;
    const refusal = compensationRefusal(original.state);
    const details = { toolCallId: row.tool_call_id };
    if (refusal !== null) throw new CountersignError(refusal.code, refusal.message, details);
    const compensation = this.declared(original);
    return {
      capability: compensation.capability,
      arguments: compensationArguments(compensation, await this.record(original)),
      idempotencyKey: `compensation:${row.tool_call_id}`,
      runId: await this.openRunOf(caller, original),
      runLabel: null,
      turnId: null,
      callId: null,
      reasoningObjectId: null,
      skillId: null,
      // Everything about one business intent is joined, its undoing included.
      intentId: row.correlation_id,
      allowDuplicateIntent: false,
      reason,
      executeBefore: null,
      compensates: original,
    };
  }

  private declared({ state, row }: LoadedCall): Compensation {
    const details = { toolCallId: row.tool_call_id };
    const capability = this.gate.bound(state);
    if (capability === undefined) {
      throw new CountersignError(
        'capability_version_changed',
        'the definition the call was made with is not in force',
        details,
      );
    }
    const { compensation } = capability.manifest;
    if (compensation !== null) return compensation;
    throw new CountersignError('compensation_not_declared', 'the manifest names no compensation', details);
  }

  private async record({ row, state }: LoadedCall): Promise<Parameters<typeof compensationArguments>[1]> {
    const proposed = await this.desk.read.event(row.tenant, row.proposed_event_id);
    const settled = row.settled_event_id === null ? null : await this.desk.read.event(row.tenant, row.settled_event_id);
    return {
      toolCallId: row.tool_call_id,
      arguments: (proposed?.payload['arguments'] ?? {}) as JsonObject,
      result: (settled?.payload['result'] ?? null) as JsonValue,
      downstreamKey: state.downstreamKey,
      externalRequestId: state.externalRequestId,
    };
  }

  /** In the run of the original while that takes work; otherwise in the caller's own run of the day. */
  private async openRunOf(caller: Caller, { row }: LoadedCall): Promise<string | null> {
    const run = await this.desk.read.run(row.tenant, row.run_id);
    const isOpen = run !== null && RUN_OPEN_STATUSES.some((status) => status === run.status);
    return isOpen && run.principal === principalKey(principalOf(caller.actor)) ? run.run_id : null;
  }
}

const proposedBefore = ({ state }: LoadedCall): Proposed | null =>
  state.compensatedBy === null ? null : { toolCallId: state.compensatedBy, replayed: true };
