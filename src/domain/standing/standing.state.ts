export const STANDING_STATUSES = ['active', 'revoked', 'expired'] as const;
export type StandingStatus = (typeof STANDING_STATUSES)[number];

/** What a person gives for a time. */
export type StandingRight =
  | {
      /** Their allow, wherever the policy asks `group` about such a call. */
      readonly kind: 'grant';
      readonly capability: string;
      readonly group: string;
      /** Null: whoever asks. */
      readonly principalSub: string | null;
      readonly principalAct: string | null;
    }
  | {
      /** Their right to decide, in these groups. */
      readonly kind: 'delegation';
      readonly to: string;
      readonly groups: readonly string[];
    };

export interface StandingState {
  readonly right: StandingRight;
  readonly by: string;
  /** ISO 8601: at and after this time it counts no more. */
  readonly until: string;
  readonly status: StandingStatus;
  readonly revokedBy: string | null;
}
