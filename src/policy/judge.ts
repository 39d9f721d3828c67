import { Injectable } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import type { Guard } from '../storage/unit.js';
import type { CallInUnit } from '../storage/units/call-in-unit.js';
import type { LoadedApproval, LoadedCall } from '../storage/units/load.js';
import type { UnitDraft } from '../storage/units/unit-draft.js';
import { CaseFile, type Papers } from './case-file.js';
import type { PolicyDecision, PolicyRequest } from './core/policy-types.js';
import type { GrantBook } from './grants/grant-book.js';
import type { Judged } from './judged.js';
import { recordJudgement } from './judgement.js';
import { JudgementGrounds } from './judgement-grounds.js';
import type { Preconditions } from './preconditions/preconditions.js';
import { policyIsCurrent } from './policy-guard.js';
import { PolicyService } from './policy.service.js';

/**
 * An engine that fails has said nothing about the call: nothing is recorded, the key stays free, nothing runs.
 *
 * @throws CountersignError `engine_error` naming what failed, never what was asked
 */
export function mustBeAnAnswer(decision: PolicyDecision): void {
  if (decision.denyCode !== 'engine_error') return;
  throw new CountersignError('engine_error', 'the policy could not be evaluated, so nothing is allowed', {
    problems: decision.engineErrors,
  });
}

/** Asks the policy about a call and records what follows: the one judge under every surface. */
@Injectable()
export class Judge {
  constructor(
    private readonly policy: PolicyService,
    private readonly caseFile: CaseFile,
    private readonly settings: Settings,
    /** What is known besides the request. */
    private readonly grounds: JudgementGrounds,
  ) {}

  get grants(): GrantBook {
    return this.grounds.grants;
  }

  get preconditions(): Preconditions {
    return this.grounds.preconditions;
  }

  /** `sha256:…` of the set in force; null: there is none and everything is denied. */
  revision(): string | null {
    return this.policy.revision();
  }

  /** Never rejects: a failure of any kind is a denial with `engine_error`. */
  decide(request: PolicyRequest): Promise<PolicyDecision> {
    return this.policy.decide(request);
  }

  /** @throws RecordTampered when the record is not what was agreed to. */
  open(call: LoadedCall): Promise<Papers> {
    return this.caseFile.open(call);
  }

  /** Before sending: the rows are what the sealed events say. @throws RecordTampered */
  verify(call: LoadedCall, approval: LoadedApproval | null): Promise<void> {
    return this.caseFile.verify(call, approval);
  }

  /** Records the decision and the authorization, denial or question that follows from it. */
  record(draft: UnitDraft, call: CallInUnit, judged: Judged): void {
    recordJudgement(draft, call, judged, this.settings);
  }

  /** The set that decided is still the one in force. */
  guard(decision: PolicyDecision): Guard {
    return policyIsCurrent(decision.policyRevision);
  }
}
