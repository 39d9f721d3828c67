import { Injectable } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { GuardFailed, type Guard } from '../storage/unit.js';
import type { CallInUnit } from '../storage/units/call-in-unit.js';
import type { LoadedApproval, LoadedCall } from '../storage/units/load.js';
import type { UnitDraft } from '../storage/units/unit-draft.js';
import { overBudget } from './core/decide.js';
import { hasFacts, withoutFacts } from './core/facts.js';
import { isCovered } from './core/limits.js';
import type { Circumstances } from './facts/fact-reader.js';
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

/** What was asked, with every fact that was gathered for it, and the answer. Both are recorded. */
export interface Considered {
  readonly request: PolicyRequest;
  readonly decision: PolicyDecision;
}

/** A policy set that is replaced between two facts makes them be gathered again. */
const TRIES_MAX = 3;

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

  /**
   * Gathers what the policies about the action read, asks them, and looks whether the budgets have room. Facts that an
   * earlier request held are gathered anew. A failure of the engine is a denial with `engine_error`.
   */
  async decide(request: PolicyRequest, about: Circumstances): Promise<Considered> {
    const bare = hasFacts(request) ? withoutFacts(request) : request;
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const revision = this.policy.revision();
      const needs = this.grounds.facts.needs(request.capability);
      const needsNothing = needs.facts.length === 0 && !needs.run;
      const asked = needsNothing ? bare : await this.grounds.facts.complete(bare, needs, about);
      const decision = await this.policy.decide(asked);
      // A set that came into force meanwhile may read what was not gathered.
      if (decision.denyCode === 'engine_error' || decision.policyRevision === revision) {
        return decision.reservations === undefined
          ? { request: asked, decision }
          : { request: asked, decision: await this.withinBudget(request.tenant, decision, about) };
      }
    }
    throw new CountersignError('engine_error', 'the policy changes too fast to be asked', {
      problems: ['policy_changing'],
    });
  }

  /** A call that holds what is wanted keeps it; a budget that is visibly full need not be tried. */
  private async withinBudget(tenant: string, decision: PolicyDecision, about: Circumstances): Promise<PolicyDecision> {
    const { reservations = [] } = decision;
    if (isCovered(reservations, about.held)) return { ...decision, reservations: about.held };
    const full = await this.grounds.facts.firstFull(tenant, reservations, about.held);
    return full === null ? decision : overBudget(decision, full);
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

  /**
   * The set that decided is still the one in force. With the request also: a suspension that it says nothing of has not been set
   * since; whoever takes this guard takes that of the pauses in the same step.
   *
   * @throws GuardFailed `pauses`
   */
  guard(decision: PolicyDecision, request?: PolicyRequest): Guard {
    if (request?.agentSuspended === false && this.grounds.facts.isSuspended(request.tenant, request)) {
      throw new GuardFailed('pauses');
    }
    return policyIsCurrent(decision.policyRevision);
  }
}
