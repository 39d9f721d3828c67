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

/** One question of the policy to one group of people. */
export interface ApproverRule {
  /** The group (or role) whose members may decide. */
  readonly group: string;
  /** How many distinct people must allow. */
  readonly count: number;
  /** When true, nobody who counts as the requester may decide. */
  readonly notRequester: boolean;
}

/** One person's recorded word. */
export interface Vote {
  readonly sub: string;
  readonly decision: 'allow' | 'deny';
  /** The groups of the question that the person was in, and could decide for, when they voted. */
  readonly groups: readonly string[];
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
