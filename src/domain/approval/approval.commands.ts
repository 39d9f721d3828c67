import type { EventPayload } from '../events/catalogue.js';
import type { ReviewFinding } from './approval.state.js';

/** Who votes: the authenticated person with the groups they are in now. Never taken from a request body. */
export interface Voter {
  readonly sub: string;
  readonly groups: readonly string[];
  /** True for a token that has `act` or the role `harness`: an agent's own credential can never decide. */
  readonly isAgent: boolean;
  /** Standing delegations to this person that are in force now: whose right it is, and in which groups. */
  readonly deputyFor?: readonly { readonly from: string; readonly groups: readonly string[] }[];
}

export type ApprovalCommand =
  | { readonly kind: 'ask'; readonly question: EventPayload<'approval.required'> } // AP1
  | {
      readonly kind: 'vote'; // AP2, AP3, AP10, AP11
      readonly voter: Voter;
      readonly decision: 'allow' | 'deny';
      readonly consentDigest: string;
      readonly reason: string | null;
      /** ISO 8601, the time of the decision. */
      readonly now: string;
    }
  | { readonly kind: 'withdraw_vote'; readonly voter: Voter; readonly reason: string | null; readonly now: string }
  | {
      readonly kind: 'delegate';
      readonly voter: Voter;
      readonly to: string;
      /** ISO 8601; null: as long as the question may be decided. */
      readonly until: string | null;
      /** Groups of the question; null: all that the person may decide for. */
      readonly groups: readonly string[] | null;
      readonly reason: string | null;
      readonly now: string;
    }
  | {
      readonly kind: 'revoke_delegation';
      readonly voter: Voter;
      readonly to: string;
      readonly reason: string | null;
      readonly now: string;
    }
  | {
      readonly kind: 'escalate';
      readonly voter: Voter;
      /** The group that is asked as well. */
      readonly to: string;
      /** The settings let any question be widened to it; otherwise its policy must name it. */
      readonly isForAll: boolean;
      readonly reason: string;
      readonly now: string;
    }
  | { readonly kind: 'escalate_due'; readonly now: string }
  | {
      readonly kind: 'break_glass';
      readonly voter: Voter;
      /** The person is in a group that the installation trusts with emergencies. */
      readonly mayBreakGlass: boolean;
      readonly consentDigest: string;
      readonly reason: string;
      readonly now: string;
    }
  | {
      readonly kind: 'review';
      readonly voter: Voter;
      readonly finding: ReviewFinding;
      readonly reason: string;
      readonly now: string;
    }
  | {
      readonly kind: 'edit';
      readonly voter: Voter;
      readonly consentDigest: string;
      readonly reason: string;
      readonly newToolCallId: string;
      readonly now: string;
    }
  | { readonly kind: 'expire'; readonly now: string } // AP4, AP7
  | { readonly kind: 'invalidate'; readonly invalidation: EventPayload<'approval.invalidated'> } // AP5, AP8
  | { readonly kind: 'consume'; readonly consumption: EventPayload<'approval.consumed'>; readonly now: string } // AP6, AP12
  | { readonly kind: 'close'; readonly closing: EventPayload<'approval.closed'> }; // AP9

/** The command of one kind. */
export type ApprovalCommandOf<K extends ApprovalCommandKind> = Extract<ApprovalCommand, { readonly kind: K }>;

export type ApprovalCommandKind = ApprovalCommand['kind'];
