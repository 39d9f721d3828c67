import type { Risk } from '../tool-call/tool-call.state.js';

export const APPROVAL_STATUSES = [
  'pending',
  'granted',
  'consumed',
  'denied',
  'expired',
  'invalidated',
  'closed',
] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

export const REVIEW_FINDINGS = ['justified', 'not_justified'] as const;
export type ReviewFinding = (typeof REVIEW_FINDINGS)[number];

/** One question of the policy to one group of people. */
export interface ApproverRule {
  /** The group (or role) whose members may decide. */
  readonly group: string;
  /** How many distinct people must allow. */
  readonly count: number;
  /** When true, nobody who counts as the requester may decide. */
  readonly notRequester: boolean;
  /** From `at` on (ISO 8601) the members of the wider `group` are asked as well; absent where the policy names none. */
  readonly escalation?: { readonly group: string; readonly at: string };
}

/** One person's recorded word. */
export interface Vote {
  readonly sub: string;
  readonly decision: 'allow' | 'deny';
  /** The groups of the question that the person was in, and could decide for, when they voted. */
  readonly groups: readonly string[];
  /** Whose right it rests on besides the voter's own: together with the voter they are one person. Absent when nobody's. */
  readonly onBehalfOf?: readonly string[];
}

/** One approver's right to decide this question, lent to somebody else. */
export interface Delegation {
  readonly from: string;
  readonly to: string;
  /** ISO 8601: at and after this time the right is the lender's alone. */
  readonly until: string;
  /** The groups of the question that it is lent for. */
  readonly groups: readonly string[];
}

/** Members of `to` may decide for the rule of `group` as well. */
export interface Escalation {
  readonly group: string;
  readonly to: string;
}

/** What every status has. */
export interface ApprovalQuestion {
  readonly attempt: number;
  readonly risk: Risk;
  readonly capability: string;
  readonly capabilityVersion: string;
  readonly manifestDigest: string;
  readonly argsDigest: string;
  readonly consentDigest: string;
  readonly policyRevision: string;
  /** All of them must be met. */
  readonly rules: readonly ApproverRule[];
  readonly requesterSubjects: readonly string[];
  /** ISO 8601: nobody may decide at or after this time. */
  readonly decideBy: string;
  /** How long after the grant the call may be sent. */
  readonly executionWindowMs: number;
  /** ISO 8601: never send at or after this time, whenever the grant was. */
  readonly executeByLatest: string;
  /** In the order they came, at most one per person; a withdrawn vote is not among them. */
  readonly votes: readonly Vote[];
  /** What questions of one turn share; null for a question of its own. */
  readonly batchId: string | null;
  readonly delegations: readonly Delegation[];
  readonly escalations: readonly Escalation[];
  /** Who let it pass in an emergency without the people it asks; null: nobody. */
  readonly breakGlass: { readonly by: string } | null;
  /** What another person found about the emergency afterwards; null while that is owed, or nothing is. */
  readonly review: { readonly by: string; readonly finding: ReviewFinding } | null;
}

/** A durable question to people: a union on `status`. */
export type ApprovalState = ApprovalQuestion &
  (
    | { readonly status: 'pending' }
    | { readonly status: 'granted'; readonly executeBy: string; readonly decidedBy: readonly string[] }
    | { readonly status: 'consumed'; readonly executeBy: string; readonly decidedBy: readonly string[] }
    | { readonly status: 'denied'; readonly decidedBy: readonly string[] }
    | { readonly status: 'expired'; readonly clock: 'decide' | 'execute' }
    | { readonly status: 'invalidated'; readonly reason: string }
    | { readonly status: 'closed'; readonly reason: string }
  );
