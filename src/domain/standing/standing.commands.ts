import type { JsonObject } from '../json/json-value.js';
import type { Voter } from '../approval/approval.commands.js';

export type StandingCommand =
  | {
      readonly kind: 'grant';
      readonly holder: Voter;
      readonly capability: string;
      readonly group: string;
      readonly principalSub: string | null;
      readonly principalAct: string | null;
      readonly argumentsEqual: JsonObject | null;
      readonly until: string;
      readonly reason: string;
      /** Longest life, in milliseconds. */
      readonly msMax: number;
      readonly now: string;
    }
  | {
      readonly kind: 'delegate';
      readonly holder: Voter;
      readonly to: string;
      readonly groups: readonly string[];
      readonly until: string;
      readonly reason: string | null;
      readonly msMax: number;
      readonly now: string;
    }
  | {
      readonly kind: 'revoke';
      readonly holder: Voter;
      /** An operator, or for a grant a member of its group, may take back what somebody else gave. */
      readonly mayRevokeOthers: boolean;
      readonly reason: string | null;
    }
  | { readonly kind: 'expire'; readonly now: string };

export type StandingCommandKind = StandingCommand['kind'];
export type StandingCommandOf<K extends StandingCommandKind> = Extract<StandingCommand, { readonly kind: K }>;
