import { refuse, type ErrorCode, type Refusal } from '../errors/error-codes.js';
import type { Decided } from '../events/decided.js';
import type { EventIn } from '../events/domain-event.js';
import type { LeaseEnding, LeaseState, LiveLease } from './lease.state.js';

export type LeaseEvent = EventIn<'lease'>;
export type DecidedLease = Decided<LeaseEvent>;

const ENDED: Readonly<Record<LeaseEnding, ErrorCode>> = {
  released: 'lease_released',
  expired: 'lease_expired',
  revoked: 'lease_revoked',
};

/** The refusal by a lease that can be used no more; what it ended as counts, not what the provider does. */
export function endedLease(state: Exclude<LeaseState, LiveLease>): Refusal {
  switch (state.status) {
    case 'released':
    case 'expired':
    case 'revoked':
      return refuse(ENDED[state.status], `The lease is ${state.status}.`);
    case 'revoking':
    case 'revoke_failed':
    case 'irrevocable':
      return refuse(ENDED[state.endedAs], `The lease is ${state.endedAs}.`);
    case 'refused':
      return refuse('lease_refused', 'The lease was never issued.');
  }
}
