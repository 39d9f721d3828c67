import type { EventPayload } from '../events/catalogue.js';

/** One use of a lease, as whoever uses it names it. A field that is left out is not compared. */
export interface LeaseUse {
  readonly now: string;
  readonly usedBy: string | null;
  readonly attempt?: number;
  readonly executionEnvironmentId?: string;
}

export type LeaseCommand =
  | { readonly kind: 'issue'; readonly issue: EventPayload<'lease.issued'> } // L1
  | { readonly kind: 'refuse'; readonly refusal: EventPayload<'lease.refused'> } // L2
  | { readonly kind: 'use'; readonly use: LeaseUse } // L3, L4, L8
  | { readonly kind: 'release'; readonly release: EventPayload<'lease.released'> } // L5
  | { readonly kind: 'expire'; readonly now: string } // L6
  | { readonly kind: 'revoke'; readonly revocation: EventPayload<'lease.revoked'> } // L7, L9
  | { readonly kind: 'record_upstream_end'; readonly end: EventPayload<'lease.upstream_revoked'> }
  | {
      readonly kind: 'record_revoke_failure';
      readonly error: string;
      readonly now: string;
      readonly nextAt: string;
      /** The failure of this number is the last: nobody asks the provider again by itself. */
      readonly triesMax: number;
    };

export type LeaseCommandKind = LeaseCommand['kind'];
