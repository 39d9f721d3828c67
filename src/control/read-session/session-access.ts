import { Injectable } from '@nestjs/common';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { principalKey, principalOf, type Principal } from '../../domain/principal.js';
import type { SessionKey } from '../../domain/session/session-key.js';
import type { SessionParent } from '../../domain/session/session-row.js';
import type { SessionStatus } from '../../domain/session/session.state.js';
import { hasRole, type Caller } from '../../identity/caller.js';
import type { LiveSession } from '../../sessions/live-session.js';
import { keyOf, SessionDesk } from '../../sessions/session-desk.js';
import { sessionState } from '../../storage/rows/session.row.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { Store } from '../../storage/store.js';
import { loadOwnSession, loadSessionOrTombstone } from '../own-session.js';

/** Who else may read the sessions of a tenant. */
const READERS = ['operator', 'auditor'] as const;

/** What is on record about a session. */
export interface SessionView {
  readonly key: SessionKey;
  readonly status: SessionStatus;
  readonly principal: Principal;
  readonly ownerEpoch: number;
  readonly harnessInstanceId: string | null;
  readonly parent: SessionParent | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface SessionViews {
  readonly items: readonly SessionView[];
  readonly nextCursor: string | null;
}

/** Who sees which session. Reading changes nothing; a session that is not in memory is loaded for it. */
@Injectable()
export class SessionAccess {
  constructor(
    private readonly store: Store,
    private readonly sessions: SessionDesk,
  ) {}

  /** @throws CountersignError `invalid_session_id`, `session_not_found`; a deleted session is shown as what remains of it. */
  async view(caller: Caller, sessionId: string): Promise<SessionView> {
    return viewOf(await loadSessionOrTombstone(this.store.read, caller, sessionId, ...READERS));
  }

  /** Of the caller's own principal, or of the tenant for those who may read all; the newest first. */
  async list(caller: Caller, limit: number, cursor: string | null): Promise<SessionViews> {
    const principal = hasRole(caller, ...READERS) ? null : principalKey(principalOf(caller.actor));
    const rows = await this.store.read.sessions(caller.tenant, principal, beforeOf(cursor), limit + 1);
    const shown = rows.slice(0, limit);
    const last = shown.at(-1);
    const isMore = rows.length > limit && last !== undefined;
    return { items: shown.map(viewOf), nextCursor: isMore ? cursorOf(last) : null };
  }

  /** The session in memory. @throws CountersignError what a load refuses. */
  async live(caller: Caller, sessionId: string): Promise<LiveSession> {
    return this.sessions.open(await loadOwnSession(this.store.read, caller, sessionId, ...READERS));
  }

  /** For operators, who look at what is stored without loading it; also at what remains of a deleted session. */
  async keyForOperator(caller: Caller, sessionId: string): Promise<SessionKey> {
    return keyOf(await loadSessionOrTombstone(this.store.read, caller, sessionId, 'operator'));
  }
}

function viewOf(row: TableRow<'sessions'>): SessionView {
  const { status, principal, ownerEpoch, harnessInstanceId, parent } = sessionState(row);
  const times = { createdAt: row.created_at, updatedAt: row.updated_at };
  return { key: keyOf(row), status, principal, ownerEpoch, harnessInstanceId, parent, ...times };
}

const cursorOf = (row: TableRow<'sessions'>): string =>
  Buffer.from(JSON.stringify([row.created_at, row.session_id])).toString('base64url');

function beforeOf(cursor: string | null): readonly [string, string] | null {
  if (cursor === null) return null;
  const value = parsed(Buffer.from(cursor, 'base64url').toString('utf8'));
  if (Array.isArray(value)) {
    const [createdAt, sessionId] = value as unknown[];
    if (typeof createdAt === 'string' && typeof sessionId === 'string') return [createdAt, sessionId];
  }
  throw new CountersignError('invalid_request', 'the cursor is not one of this list', { pointer: '/cursor' });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
