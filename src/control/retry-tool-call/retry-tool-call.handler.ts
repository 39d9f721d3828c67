import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CapabilityRegistry } from '../../capabilities/capability-registry.js';
import { capabilityIsActive } from '../../capabilities/dispatch-plan.js';
import { PauseBoard } from '../../capabilities/pause-board.js';
import { Settings } from '../../config/settings.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { GuardFailed } from '../../storage/unit.js';
import { Store } from '../../storage/store.js';
import { CallInUnit } from '../../storage/units/call-in-unit.js';
import type { LoadedCall } from '../../storage/units/load.js';
import { runIsOpen } from '../../storage/units/run-in-unit.js';
import type { UnitDraft } from '../../storage/units/unit-draft.js';
import { CaseFile } from '../../policy/case-file.js';
import { recordJudgement } from '../../policy/judgement.js';
import { policyIsCurrent } from '../../policy/policy-guard.js';
import { PolicyService } from '../../policy/policy.service.js';
import { CommandLog, type Acknowledged } from '../command-log.js';
import { loadOwnCall } from '../own-call.js';
import { RetryToolCall } from './retry-tool-call.command.js';

/**
 * The one way back to sending: a call that is proven to have had no effect becomes a proposal again, with the next
 * attempt, the same downstream key and a new judgement. An approval authorises one attempt.
 */
@CommandHandler(RetryToolCall)
export class RetryToolCallHandler implements ICommandHandler<RetryToolCall> {
  constructor(
    private readonly store: Store,
    private readonly log: CommandLog,
    private readonly settings: Settings,
    private readonly capabilities: CapabilityRegistry,
    private readonly pauses: PauseBoard,
    private readonly policy: PolicyService,
    private readonly caseFile: CaseFile,
  ) {}

  async execute({ caller, toolCallId, reason, commandId }: RetryToolCall): Promise<Acknowledged> {
    const asked = { type: 'retry', target: { toolCallId }, details: { reason }, commandId };
    return this.log.carryOut(caller, asked, async (start, now) => {
      const loaded = await loadOwnCall(this.store.read, caller, toolCallId);
      const { row } = loaded;
      const draft = start({ correlationId: toolCallId, runId: row.run_id, sessionId: row.session_id });
      return this.proposeAgain(draft, loaded, now);
    });
  }

  private async proposeAgain(draft: UnitDraft, loaded: LoadedCall, now: string): Promise<UnitDraft> {
    const { row, state } = loaded;
    const attempt = state.attempt + 1;
    const resolved = await this.withEvidence(loaded);
    const call = new CallInUnit(draft, resolved).do({
      kind: 'accept_retry',
      retry: { attempt, previousStatus: state.status },
    });
    const capability = this.capabilities.get(row.capability);
    if (capability === undefined || capability.manifestDigest !== row.manifest_digest) {
      throw new CountersignError('capability_version_changed', 'the definition the call was made with is no longer in force');
    }
    if (this.pauses.find(row.tenant, state.principal, row.capability) !== null) {
      throw new CountersignError('paused', 'calls like this one are paused');
    }
    const papers = await this.caseFile.open(loaded);
    const request = { ...papers.request, approvals: {}, attempt, nowMs: Date.parse(now) };
    const decision = await this.policy.decide(request);
    draft
      .guard(runIsOpen(row.run_id))
      .guard(this.pauses.guard())
      .guard(capabilityIsActive(capability))
      .guard(policyIsCurrent(decision.policyRevision));
    recordJudgement(draft, call, { ...papers, phase: 'retry', request, decision, capability, now }, this.settings);
    return draft;
  }

  /** The proof behind a finding is in the sealed event alone; a retry after a handoff rests on it. */
  private async withEvidence(loaded: LoadedCall): Promise<LoadedCall> {
    const { state, row } = loaded;
    if (state.status !== 'manual_handoff' || state.resolution === null || row.resolution_event_id === null) return loaded;
    const event = await this.store.read.event(row.tenant, row.resolution_event_id);
    if (event === null) throw new GuardFailed('tool_call');
    const evidenceRefs = event.payload['evidenceRefs'] as readonly string[];
    return { ...loaded, state: { ...state, resolution: { ...state.resolution, evidenceRefs } } };
  }
}
