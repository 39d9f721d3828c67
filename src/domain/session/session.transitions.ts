import type { ErrorCode } from '../errors/error-codes.js';
import type { EventTypeIn } from '../events/catalogue.js';
import { stay, to, type Edges, type PerItem } from '../events/edges.js';
import type { SessionCommandKind } from './session.commands.js';
import { SESSION_STATUSES, type SessionStatus } from './session.state.js';

/** The machine of the session's record as data, complete; the spec proves that code and tables agree in every cell. */

/** (status, event type) → the next status. */
export const SESSION_EDGES: Readonly<Record<EventTypeIn<'session'>, Edges<SessionStatus>>> = {
  'session.opened': to('open', 'none'),
  'session.harness_attached': stay('open'),
  'session.imported': stay('open'),
  'session.repaired': stay('open'),
  'session.history_truncated': stay('open'),
  'session.deleted': to('deleted', 'open'),
};

/** The order of the columns below. */
export const SESSION_SITUATIONS = ['none', ...SESSION_STATUSES] as const;

type Row = PerItem<typeof SESSION_SITUATIONS, 'allowed' | ErrorCode>;

/** (command, status) → allowed, or the code of the refusal. Allowed may mean that nothing is left to record. */
export const SESSION_ANSWERS = {
  open: { any: ['allowed', 'session_exists', 'session_deleted'] },
  attach: { any: ['session_not_found', 'allowed', 'session_deleted'] },
  import: { any: ['session_not_found', 'allowed', 'session_deleted'] },
  record_repair: { any: ['session_not_found', 'allowed', 'session_deleted'] },
  truncate_history: { any: ['session_not_found', 'allowed', 'session_deleted'] },
  delete: { any: ['session_not_found', 'allowed', 'allowed'] },
} as const satisfies Readonly<Record<SessionCommandKind, Readonly<Record<string, Row>>>>;
