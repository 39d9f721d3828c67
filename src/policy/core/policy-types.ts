import type { ApproverRule } from '../../domain/approval/approval.state.js';
import type { DecisionOutcome } from '../../domain/events/catalogue.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import type { Reservation, Risk } from '../../domain/tool-call/tool-call.state.js';
import type { ServerFacts } from './facts.js';
import type { LeaseTerms } from './lease-terms.js';

/** What the people have said so far, per group. Built by the server only. */
export interface GroupFacts {
  readonly count: number;
  /** True when one of the counted people is the requester, the agent, or the agent's owner. */
  readonly includesRequester: boolean;
}

/** Everything a decision can read. It is recorded, so that the decision can be replayed. */
export interface PolicyRequest extends ServerFacts {
  readonly tenant: string;
  readonly sub: string;
  /** The acting agent; absent when a person acts for itself. */
  readonly act?: string;
  readonly roles: readonly string[];
  readonly capability: string;
  readonly capabilityVersion: string;
  readonly risk: Risk;
  readonly effect: string;
  /** The effective arguments: agent data appears in policies only as `context.input`. */
  readonly input: JsonObject;
  readonly approvals: Readonly<Record<string, GroupFacts>>;
  readonly attempt: number;
  readonly reasoningPresent: boolean;
  readonly allowDuplicateIntent: boolean;
  /** True when somebody let the call pass in an emergency; left out means false. */
  readonly breakGlass?: boolean;
  /** Milliseconds since the epoch, from one clock. */
  readonly nowMs: number;
}

/** A question to one group, with times from the moment of asking. */
export interface AskedRule extends Omit<ApproverRule, 'escalation'> {
  readonly escalation?: { readonly group: string; readonly afterMs: number };
}

/** What the policy asks of people. */
export interface Obligations {
  readonly rules: readonly AskedRule[];
  /** Shortest of the asking policies. */
  readonly decideWithinMs: number;
  readonly executionWindowMs: number;
}

/** The recorded answer to one evaluation. */
export interface PolicyDecision {
  readonly outcome: DecisionOutcome;
  /** Why, in words fit for the model and for people: the `@reason` texts, or the code word. */
  readonly reasons: readonly string[];
  /** For deny; null otherwise. */
  readonly denyCode: 'no_permit' | 'forbidden' | 'engine_error' | 'budget_exceeded' | null;
  readonly determining: readonly string[];
  readonly obligations: Obligations | null;
  /** What the determining permits say of the lease of the call: of all of them the strictest. Absent: nothing. */
  readonly lease?: LeaseTerms;
  readonly engineErrors: readonly string[];
  /** What the call takes of the budgets of its (real or hypothetical) permits; absent where they have none. */
  readonly reservations?: readonly Reservation[];
  /** The counter that was full, where that alone denies. */
  readonly exceeded?: string;
  readonly policyRevision: string;
  readonly schemaDigest: string;
  readonly engineVersion: string;
  readonly requestDigest: string;
}
