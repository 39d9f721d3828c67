import { Injectable } from '@nestjs/common';
import { CapabilityGate } from '../../capabilities/capability-gate.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { Judge } from '../../policy/judge.js';
import { policyIsCurrent } from '../../policy/policy-guard.js';
import type { Ground } from '../../policy/preconditions/preconditions.js';
import type { Guard } from '../../storage/unit.js';
import type { LoadedApproval, LoadedCall } from '../../storage/units/load.js';
import type { UnitDraft } from '../../storage/units/unit-draft.js';
import { LostGround } from '../decide-approval/lost-ground.js';

/** What a word that could lead to sending rests on: the same definition, the same policy. */
export function guardConsent(
  draft: UnitDraft,
  { row }: LoadedApproval,
  call: LoadedCall,
  { gate, judge }: { readonly gate: CapabilityGate; readonly judge: Judge },
): void {
  const details = { approvalId: row.approval_id };
  const capability = gate.bound(call.state);
  if (capability === undefined) {
    throw new CountersignError('capability_version_changed', 'what was asked about is no longer in force', details);
  }
  if (row.policy_revision !== judge.revision()) {
    throw new CountersignError(
      'policy_version_changed',
      'the policy has changed since the question was asked',
      details,
    );
  }
  draft.guard(gate.definitionGuard(capability)).guard(policyIsCurrent(row.policy_revision));
}

/** What the approval was shown to rest on is not so any more. */
export class GroundChanged extends CountersignError {
  constructor(
    readonly ground: Ground,
    approvalId: string,
  ) {
    const problems = ground.broken.map(({ title }) => `not as it was shown: ${title}`);
    super('precondition_changed', 'what the approval rested on has changed', { approvalId, problems });
  }
}

/**
 * Before a word grants: what the call rests on is looked at once more.
 *
 * @throws GroundChanged; CountersignError `precondition_unavailable`
 */
export async function mustStillHold(
  approval: LoadedApproval,
  call: LoadedCall,
  { gate, judge }: { readonly gate: CapabilityGate; readonly judge: Judge },
): Promise<void> {
  const capability = gate.bound(call.state);
  if (capability?.manifest.preconditions === undefined) return;
  const ground = await judge.preconditions.groundOf(capability, await judge.open(call), call, approval);
  if (ground.verdict === 'changed') throw new GroundChanged(ground, approval.row.approval_id);
}

/** By the clock of the one who writes. */
export function stillToDecide(approvalId: string): Guard {
  const where = { approval_id: approvalId, decide_by: { clock: 'after_now' } } as const;
  return { name: 'decide_by', table: 'approvals', where, expect: 'present' };
}

/** The ground of a person's word, and what becomes of a question that has lost it. */
@Injectable()
export class ConsentGround {
  constructor(
    private readonly gate: CapabilityGate,
    private readonly judge: Judge,
    private readonly lost: LostGround,
  ) {}

  guard(draft: UnitDraft, approval: LoadedApproval, call: LoadedCall): void {
    guardConsent(draft, approval, call, { gate: this.gate, judge: this.judge });
  }

  /** @throws GroundChanged; CountersignError `precondition_unavailable` */
  mustStillHold(approval: LoadedApproval, call: LoadedCall): Promise<void> {
    return mustStillHold(approval, call, { gate: this.gate, judge: this.judge });
  }

  /** After a refusal because the question's time or ground has gone: it does not stay open. */
  follow(error: CountersignError, tenant: string, approvalId: string): Promise<void> {
    return this.lost.follow(error.code, tenant, approvalId, groundIn(error));
  }
}

/** What was read when a word was refused; undefined: nothing was. The command log hands on the refusal as its cause. */
export function groundIn(error: CountersignError): Ground | undefined {
  const refusal = error instanceof GroundChanged ? error : error.cause;
  return refusal instanceof GroundChanged ? refusal.ground : undefined;
}
