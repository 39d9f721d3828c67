import { Injectable } from '@nestjs/common';
import { CapabilityRegistry } from '../../capabilities/capability-registry.js';
import { capabilityIsActive } from '../../capabilities/dispatch-plan.js';
import { Settings } from '../../config/settings.js';
import type { Actor } from '../../domain/events/envelope.js';
import { Clock } from '../../system/clock.js';
import { IdSource } from '../../system/id-source.js';
import { Store } from '../../storage/store.js';
import { ApprovalInUnit } from '../../storage/units/approval-in-unit.js';
import { CallInUnit } from '../../storage/units/call-in-unit.js';
import type { LoadedApproval, LoadedCall } from '../../storage/units/load.js';
import { runIsOpen } from '../../storage/units/run-in-unit.js';
import { UnitDraft } from '../../storage/units/unit-draft.js';
import { CaseFile } from '../case-file.js';
import { recordJudgement } from '../judgement.js';
import { policyIsCurrent } from '../policy-guard.js';
import { PolicyService } from '../policy.service.js';

const CLOCKWORK: Actor = { sub: 'countersign' };

/**
 * What becomes of a question when its ground has shifted: the approval is invalidated with the reason, and the call is
 * judged anew by the policy in force. A call bound to a definition that is gone ends; it is never attached to another.
 */
@Injectable()
export class Rejudgement {
  constructor(
    private readonly store: Store,
    private readonly ids: IdSource,
    private readonly clock: Clock,
    private readonly settings: Settings,
    private readonly capabilities: CapabilityRegistry,
    private readonly policy: PolicyService,
    private readonly caseFile: CaseFile,
  ) {}

  /** @throws GuardFailed when somebody else moved the call or the approval meanwhile. */
  async rejudge(
    approval: LoadedApproval,
    call: LoadedCall,
    reason: 'policy_changed' | 'capability_changed' | 'digest_mismatch',
  ): Promise<void> {
    const now = new Date(this.clock.now()).toISOString();
    const draft = this.begin(call, now);
    const invalidation = { reason, oldVersion: approval.row.policy_revision, newVersion: this.policy.revision() };
    new ApprovalInUnit(draft, approval).do({ kind: 'invalidate', invalidation });
    const next = new CallInUnit(draft, call);
    if (call.state.status === 'authorized') next.do({ kind: 'withdraw', withdrawal: { reason } });
    const capability = this.capabilities.get(call.row.capability);
    if (reason !== 'policy_changed' || capability === undefined || capability.manifestDigest !== call.row.manifest_digest) {
      next.do({ kind: 'close', closing: { reason: 'superseded' } });
      await this.store.commit(draft.build());
      return;
    }
    const papers = await this.caseFile.open(call);
    const request = { ...papers.request, approvals: {}, nowMs: Date.parse(now) };
    const decision = await this.policy.decide(request);
    draft.guard(runIsOpen(call.row.run_id)).guard(capabilityIsActive(capability)).guard(policyIsCurrent(decision.policyRevision));
    recordJudgement(draft, next, { ...papers, phase: 'propose', request, decision, capability, now }, this.settings);
    await this.store.commit(draft.build());
  }

  private begin(call: LoadedCall, now: string): UnitDraft {
    return new UnitDraft(this.ids, {
      tenant: call.row.tenant,
      lane: 'govern',
      actor: CLOCKWORK,
      correlationId: call.row.tool_call_id,
      runId: call.row.run_id,
      sessionId: call.row.session_id,
      occurredAt: now,
      causationId: call.row.last_event_id,
      causeKind: 'timer',
    });
  }
}
