import type { ErrorCode } from '../errors/error-codes.js';
import type { EventTypeIn } from '../events/catalogue.js';
import { to, type Edges, type PerItem } from '../events/edges.js';
import type { StandingCommandKind } from './standing.commands.js';
import { STANDING_STATUSES, type StandingStatus } from './standing.state.js';

/** The machine of grants and delegations as data, complete; the spec proves that code and tables agree in every cell. */
export const STANDING_EDGES: Readonly<Record<EventTypeIn<'grant' | 'delegation'>, Edges<StandingStatus>>> = {
  'grant.created': to('active', 'none'),
  'grant.revoked': to('revoked', 'active'),
  'grant.expired': to('expired', 'active'),
  'delegation.created': to('active', 'none'),
  'delegation.revoked': to('revoked', 'active'),
  'delegation.expired': to('expired', 'active'),
};

/** The order of the columns below. */
export const STANDING_SITUATIONS = ['none', ...STANDING_STATUSES] as const;

const yes = 'allowed';
const dup = 'duplicate_id';
const abs = 'not_found';
const nap = 'approver_not_allowed';
const del = 'delegate_not_allowed';
const tim = 'invalid_timestamp';
const end = 'standing_right_ended';
const old = 'version_stale';

type Row = PerItem<typeof STANDING_SITUATIONS, 'allowed' | ErrorCode>;

/** Columns: none · active revoked expired. */
// prettier-ignore
export const STANDING_ANSWERS = {
  grant: {
    own_right:         [yes,  dup, dup, dup],
    by_an_agent:       [nap,  dup, dup, dup],
    of_another_group:  [nap,  dup, dup, dup],
    to_themselves:     [nap,  dup, dup, dup],
    already_over:      [tim,  dup, dup, dup],
    for_too_long:      [tim,  dup, dup, dup],
  },
  delegate: {
    own_right:         [yes,  dup, dup, dup],
    by_an_agent:       [nap,  dup, dup, dup],
    of_another_group:  [nap,  dup, dup, dup],
    of_no_group:       [nap,  dup, dup, dup],
    to_themselves:     [del,  dup, dup, dup],
    already_over:      [tim,  dup, dup, dup],
  },
  revoke: {
    own:               [abs,  yes, end, end],
    of_another:        [abs,  nap, nap, nap],
    of_another_by_one_who_may: [abs,  yes, end, end],
    by_an_agent:       [abs,  nap, nap, nap],
  },
  expire: {
    at_its_time:       [abs,  yes, end, end],
    too_early:         [abs,  old, end, end],
  },
} as const satisfies Readonly<Record<StandingCommandKind, Readonly<Record<string, Row>>>>;
