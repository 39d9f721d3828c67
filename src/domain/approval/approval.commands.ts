import type { EventPayload } from '../events/catalogue.js';

/** Who votes: the authenticated person with the groups they are in now. Never taken from a request body. */
export interface Voter {
  readonly sub: string;
  readonly groups: readonly string[];
  /** True for a token that has `act` or the role `harness`: an agent's own credential can never decide. */
  readonly isAgent: boolean;
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
  | { readonly kind: 'expire'; readonly now: string } // AP4, AP7
  | { readonly kind: 'invalidate'; readonly invalidation: EventPayload<'approval.invalidated'> } // AP5, AP8
  | { readonly kind: 'consume'; readonly consumption: EventPayload<'approval.consumed'>; readonly now: string } // AP6, AP12
  | { readonly kind: 'close'; readonly closing: EventPayload<'approval.closed'> }; // AP9

/** The command of one kind. */
export type ApprovalCommandOf<K extends ApprovalCommandKind> = Extract<ApprovalCommand, { readonly kind: K }>;

export type ApprovalCommandKind = ApprovalCommand['kind'];
