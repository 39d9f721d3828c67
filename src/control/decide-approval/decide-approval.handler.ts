import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CapabilityRegistry } from '../../capabilities/capability-registry.js';
import { capabilityIsActive } from '../../capabilities/dispatch-plan.js';
import type { Capability } from '../../capabilities/manifest.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import { ApprovalExpiry } from '../../policy/approvals/approval-expiry.js';
import { PolicyService } from '../../policy/policy.service.js';
import { policyIsCurrent } from '../../policy/policy-guard.js';
import { Store } from '../../storage/store.js';
import { ApprovalInUnit } from '../../storage/units/approval-in-unit.js';
import { CallInUnit } from '../../storage/units/call-in-unit.js';
import { loadApproval, loadCall, type LoadedApproval, type LoadedCall } from '../../storage/units/load.js';
import { runIsOpen } from '../../storage/units/run-in-unit.js';
import type { UnitDraft } from '../../storage/units/unit-draft.js';
import { CommandLog, AlreadyDone } from '../command-log.js';
import { DecideApproval } from './decide-approval.command.js';

/** Records a person's word, and what it decides, in one unit. It claims nothing about execution. */
@CommandHandler(DecideApproval)
export class DecideApprovalHandler implements ICommandHandler<DecideApproval> {
  constructor(
    private readonly store: Store,
    private readonly log: CommandLog,
    private readonly capabilities: CapabilityRegistry,
    private readonly policy: PolicyService,
    private readonly expiry: ApprovalExpiry,
  ) {}

  async execute(command: DecideApproval): Promise<{ readonly approvalId: string; readonly commandId: string }> {
    const { approvalId, decision, digest, reason } = command;
    const asked = {
      type: 'resume',
      target: { approvalId },
      details: { decision, digest, reason } satisfies JsonObject,
      commandId: command.commandId,
    };
    try {
      const { commandId } = await this.log.carryOut(command.caller, asked, async (start, now) => {
        const { approval, call } = await this.load(command);
        const about = { correlationId: call.row.tool_call_id, runId: call.row.run_id, sessionId: call.row.session_id };
        return this.vote(command, approval, call, start(about), now);
      });
      return { approvalId, commandId };
    } catch (error) {
      if (error instanceof CountersignError && error.code === 'approval_expired') {
        await this.expiry.expire(command.caller.tenant, approvalId);
      }
      throw error;
    }
  }

  private async load(command: DecideApproval): Promise<{ approval: LoadedApproval; call: LoadedCall }> {
    const { tenant } = command.caller;
    const approval = await loadApproval(this.store.read, tenant, command.approvalId);
    const call = approval === null ? null : await loadCall(this.store.read, tenant, approval.row.tool_call_id);
    if (approval === null || call === null) throw new CountersignError('approval_not_found', 'there is no such approval');
    if (command.expectedVersion !== null && command.expectedVersion !== approval.row.version) {
      throw new CountersignError('version_stale', 'the approval has changed since it was read', {
        approvalId: command.approvalId,
        recordedDecision: approval.row.status,
      });
    }
    return { approval, call };
  }

  private vote(
    command: DecideApproval,
    loaded: LoadedApproval,
    loadedCall: LoadedCall,
    draft: UnitDraft,
    now: string,
  ): UnitDraft {
    const { caller } = command;
    const approval = new ApprovalInUnit(draft, loaded).do({
      kind: 'vote',
      voter: { sub: caller.actor.sub, groups: caller.groups, isAgent: caller.isAgent || !caller.roles.includes('approver') },
      decision: command.decision,
      consentDigest: command.digest,
      reason: command.reason,
      now,
    });
    if (!approval.changed) throw new AlreadyDone();
    const { status } = approval.state;
    // A vote that could lead to sending rests on what was asked: the same definition, the same policy, an open run.
    if (command.decision === 'allow') this.guardConsent(draft, loaded);
    draft.guard(runIsOpen(loaded.row.run_id));
    const call = new CallInUnit(draft, loadedCall);
    if (approval.state.status === 'granted') {
      const { executeBy, attempt } = approval.state;
      call.do({ kind: 'authorize', authorization: { basis: 'approval', executeBy, attempt } });
    }
    if (status === 'denied') {
      const reasons = [command.reason === null ? 'denied by an approver' : `denied by an approver: ${command.reason}`];
      call.do({ kind: 'deny', denial: { basis: 'approval', reasons } });
    }
    return draft;
  }

  private guardConsent(draft: UnitDraft, { row }: LoadedApproval): void {
    const capability = this.boundCapability(row);
    if (row.policy_revision !== this.policy.revision()) {
      throw new CountersignError('policy_version_changed', 'the policy has changed since the question was asked', {
        approvalId: row.approval_id,
      });
    }
    draft.guard(capabilityIsActive(capability)).guard(policyIsCurrent(row.policy_revision));
  }

  private boundCapability(row: LoadedApproval['row']): Capability {
    const capability = this.capabilities.get(row.capability);
    if (capability === undefined || capability.manifest.version !== row.capability_version) {
      throw new CountersignError('capability_version_changed', 'the version that was asked about is no longer in force', {
        approvalId: row.approval_id,
      });
    }
    if (capability.manifestDigest !== row.manifest_digest) {
      throw new CountersignError('capability_definition_changed', 'the definition has changed since the question was asked', {
        approvalId: row.approval_id,
      });
    }
    return capability;
  }
}
