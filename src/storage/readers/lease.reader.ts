import type { ReadConnection } from '../read-connection.js';
import type { TableRow } from '../rows/tables.js';
import type { ListSource } from './list-source.js';
import type { LeaseListQuery, Page } from './lists.js';

type Row = TableRow<'leases'>;

export interface LeaseReader {
  lease(tenant: string, leaseId: string): Promise<Row | null>;
  /** The newest act lease of an attempt: a renewal takes the place of what it renews. */
  actLease(tenant: string, toolCallId: string, attempt: number): Promise<Row | null>;
  /** Leases of the run that can be used. */
  liveLeasesOfRun(tenant: string, runId: string): Promise<readonly Row[]>;
  /** All tenants: what can be used, by id, after `afterId` (null from the start). */
  liveLeases(limit: number, afterId: string | null): Promise<readonly Row[]>;
  /** All tenants: what can be used although its time is over; the oldest first. */
  overdueLeases(now: string, limit: number): Promise<readonly Row[]>;
  /** All tenants: what has ended here and may still work at a provider, by id. */
  leasesAliveUpstream(limit: number, afterId: string | null): Promise<readonly Row[]>;
  /** Newest first, at most 200. */
  leases(query: LeaseListQuery): Promise<Page<Row>>;
}

const LIVE = `status IN ('issued', 'active')`;

export function leaseReader(connection: ReadConnection, lists: ListSource): LeaseReader {
  return {
    lease: (tenant, leaseId) =>
      connection.one<Row>('SELECT * FROM leases WHERE lease_id = ? AND tenant = ?', leaseId, tenant),
    actLease: (tenant, toolCallId, attempt) =>
      connection.one<Row>(
        `SELECT * FROM leases WHERE tool_call_id = ? AND attempt = ? AND kind = 'act' AND status <> 'refused'
          AND tenant = ? ORDER BY lease_id DESC LIMIT 1`,
        toolCallId,
        attempt,
        tenant,
      ),
    liveLeasesOfRun: (tenant, runId) =>
      connection.many<Row>(`SELECT * FROM leases WHERE run_id = ? AND ${LIVE} AND tenant = ?`, runId, tenant),
    liveLeases: (limit, afterId) =>
      connection.many<Row>(
        `SELECT * FROM leases WHERE ${LIVE} AND lease_id > ? ORDER BY lease_id LIMIT ?`,
        afterId ?? '',
        limit,
      ),
    overdueLeases: (now, limit) =>
      connection.many<Row>(
        `SELECT * FROM leases WHERE ${LIVE} AND expires_at <= ? ORDER BY expires_at, lease_id LIMIT ?`,
        now,
        limit,
      ),
    leasesAliveUpstream: (limit, afterId) =>
      connection.many<Row>(
        `SELECT * FROM leases WHERE status IN ('revoking', 'revoke_failed', 'irrevocable') AND lease_id > ?
          ORDER BY lease_id LIMIT ?`,
        afterId ?? '',
        limit,
      ),
    leases: (query) => lists.leases(query),
  };
}
