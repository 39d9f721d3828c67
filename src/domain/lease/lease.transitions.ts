import type { ErrorCode } from '../errors/error-codes.js';
import type { EventTypeIn } from '../events/catalogue.js';
import { to, type Edges, type PerItem } from '../events/edges.js';
import type { LeaseCommandKind } from './lease.commands.js';
import { LEASE_STATUSES, type LeaseStatus } from './lease.state.js';

/**
 * The machine of state-machines §7 as data, complete. An event may lead to two statuses, by whether a provider made a
 * credential for the lease that may outlive it. `decide` and `evolve` do not read these tables; the spec proves that they
 * agree with them in every cell.
 */

/** (status, event type) → the next status of a lease without, and of one with, a credential of a provider. */
export const LEASE_EDGES: Readonly<
  Record<EventTypeIn<'lease'>, { readonly plain: Edges<LeaseStatus>; readonly upstream: Edges<LeaseStatus> }>
> = {
  'lease.issued': both(to('issued', 'none')),
  'lease.refused': both(to('refused', 'none')),
  'lease.activated': both(to('active', 'issued')),
  'lease.used': both(to('active', 'active')),
  'lease.released': { plain: to('released', 'issued', 'active'), upstream: to('revoking', 'issued', 'active') },
  'lease.expired': { plain: to('expired', 'issued', 'active'), upstream: to('revoking', 'issued', 'active') },
  'lease.revoked': { plain: to('revoked', 'issued', 'active'), upstream: to('revoking', 'issued', 'active') },
  'lease.upstream_revoked': both(to('revoked', 'revoking', 'revoke_failed', 'irrevocable')),
  'lease.revoke_failed': both(to('revoke_failed', 'revoking', 'revoke_failed')),
  'lease.irrevocable': both(to('irrevocable', 'revoking', 'revoke_failed', 'irrevocable')),
};

function both(edges: Edges<LeaseStatus>): { plain: Edges<LeaseStatus>; upstream: Edges<LeaseStatus> } {
  return { plain: edges, upstream: edges };
}

/** The order of the columns below. */
export const LEASE_SITUATIONS = ['none', ...LEASE_STATUSES] as const;

const yes = 'allowed';
const dup = 'duplicate_id';
const abs = 'lease_not_found';
const rel = 'lease_released';
const exp = 'lease_expired';
const rev = 'lease_revoked';
const ref = 'lease_refused';
const exh = 'lease_exhausted';
const cal = 'lease_call_mismatch';
const env = 'lease_environment_mismatch';
const old = 'version_stale';
const liv = 'lease_not_ended';

type Row = PerItem<typeof LEASE_SITUATIONS, 'allowed' | ErrorCode>;

/**
 * (command, status) → allowed, or the code of the refusal. Columns: none · issued active · released expired revoked
 * refused · revoking revoke_failed irrevocable (all three ended as revoked).
 */
// prettier-ignore
export const LEASE_ANSWERS = {
  issue:   { any:                 [yes,  dup, dup,  dup, dup, dup, dup,  dup, dup, dup] },
  refuse:  { any:                 [yes,  dup, dup,  dup, dup, dup, dup,  dup, dup, dup] },
  use: {
    in_time:                      [abs,  yes, yes,  rel, exp, rev, ref,  rev, rev, rev],
    too_late:                     [abs,  exp, exp,  rel, exp, rev, ref,  rev, rev, rev],
    for_another_attempt:          [abs,  cal, cal,  rel, exp, rev, ref,  rev, rev, rev],
    in_another_environment:       [abs,  env, env,  rel, exp, rev, ref,  rev, rev, rev],
    once_more_than_granted:       [abs,  exh, exh,  rel, exp, rev, ref,  rev, rev, rev],
  },
  release: { any:                 [abs,  yes, yes,  rel, exp, rev, ref,  rev, rev, rev] },
  expire: {
    at_its_time:                  [abs,  yes, yes,  rel, exp, rev, ref,  rev, rev, rev],
    too_early:                    [abs,  old, old,  rel, exp, rev, ref,  rev, rev, rev],
  },
  revoke:  { any:                 [abs,  yes, yes,  yes, yes, yes, ref,  yes, yes, yes] },
  record_upstream_end: { any:     [abs,  liv, liv,  rel, exp, rev, ref,  yes, yes, yes] },
  record_revoke_failure: {
    to_be_tried_again:            [abs,  liv, liv,  rel, exp, rev, ref,  yes, yes, yes],
    for_the_last_time:            [abs,  liv, liv,  rel, exp, rev, ref,  yes, yes, yes],
  },
} as const satisfies Readonly<Record<LeaseCommandKind, Readonly<Record<string, Row>>>>;
