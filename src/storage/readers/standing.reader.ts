import type { ReadConnection } from '../read-connection.js';
import type { TableRow } from '../rows/tables.js';

/** A page of rows by id, newest first: `before` is the last id of the page before. */
export interface StandingListQuery {
  readonly tenant: string;
  readonly limit: number;
  readonly before: string | null;
  /** Only those of this person (delegations: lent by or to); null: of everybody. */
  readonly sub: string | null;
}

/** Standing rights, what people have refused, and what waits or is owed in approvals. */
export interface StandingReader {
  grant(tenant: string, grantId: string): Promise<TableRow<'grants'> | null>;
  /** Active ones for a capability, oldest first; whether their time is over is the asker's to see. */
  activeGrants(tenant: string, capability: string): Promise<readonly TableRow<'grants'>[]>;
  grants(query: StandingListQuery): Promise<readonly TableRow<'grants'>[]>;
  /** Over all tenants. */
  activeGrantCount(): Promise<number>;
  /** All tenants: active ones whose time is over; the oldest first. */
  overdueStandingGrants(now: string, limit: number): Promise<readonly TableRow<'grants'>[]>;
  delegation(tenant: string, delegationId: string): Promise<TableRow<'delegations'> | null>;
  /** Active ones to this person. */
  delegationsTo(tenant: string, sub: string): Promise<readonly TableRow<'delegations'>[]>;
  delegations(query: StandingListQuery): Promise<readonly TableRow<'delegations'>[]>;
  /** All tenants: active ones whose time is over; the oldest first. */
  overdueDelegations(now: string, limit: number): Promise<readonly TableRow<'delegations'>[]>;
  refusedIntent(tenant: string, intentDigest: string): Promise<TableRow<'refused_intents'> | null>;
  /** All tenants: pending approvals of which a rule is to be widened by now; the oldest first. */
  dueEscalations(now: string, limit: number): Promise<readonly TableRow<'approvals'>[]>;
  /** Over all tenants: emergencies that nobody has looked at. */
  owedReviewCount(): Promise<number>;
}

export function standingReader(connection: ReadConnection): StandingReader {
  return { ...grantReader(connection), ...delegationReader(connection) };
}

type GrantReads = 'grant' | 'activeGrants' | 'grants' | 'activeGrantCount' | 'overdueStandingGrants' | 'refusedIntent';

function grantReader(connection: ReadConnection): Pick<StandingReader, GrantReads> {
  return {
    grant: (tenant, grantId) =>
      connection.one<TableRow<'grants'>>('SELECT * FROM grants WHERE grant_id = ? AND tenant = ?', grantId, tenant),
    activeGrants: (tenant, capability) =>
      connection.many<TableRow<'grants'>>(
        `SELECT * FROM grants WHERE tenant = ? AND capability = ? AND status = 'active' ORDER BY grant_id`,
        tenant,
        capability,
      ),
    grants: ({ tenant, limit, before, sub }) =>
      connection.many<TableRow<'grants'>>(
        `SELECT * FROM grants WHERE tenant = ? AND grant_id < ? AND (? IS NULL OR granted_by = ?)
         ORDER BY grant_id DESC LIMIT ?`,
        tenant,
        before ?? '~',
        sub,
        sub,
        limit,
      ),
    activeGrantCount: async () => {
      const row = await connection.one<{ n: number }>(`SELECT COUNT(*) AS n FROM grants WHERE status = 'active'`);
      return row?.n ?? 0;
    },
    overdueStandingGrants: (now, limit) =>
      connection.many<TableRow<'grants'>>(
        `SELECT * FROM grants WHERE status = 'active' AND until <= ? ORDER BY until LIMIT ?`,
        now,
        limit,
      ),
    refusedIntent: (tenant, intentDigest) =>
      connection.one<TableRow<'refused_intents'>>(
        'SELECT * FROM refused_intents WHERE tenant = ? AND intent_digest = ?',
        tenant,
        intentDigest,
      ),
  };
}

type DelegationReads =
  'delegation' | 'delegationsTo' | 'delegations' | 'overdueDelegations' | 'dueEscalations' | 'owedReviewCount';

function delegationReader(connection: ReadConnection): Pick<StandingReader, DelegationReads> {
  return {
    delegation: (tenant, delegationId) =>
      connection.one<TableRow<'delegations'>>(
        'SELECT * FROM delegations WHERE delegation_id = ? AND tenant = ?',
        delegationId,
        tenant,
      ),
    delegationsTo: (tenant, sub) =>
      connection.many<TableRow<'delegations'>>(
        `SELECT * FROM delegations WHERE tenant = ? AND lent_to = ? AND status = 'active' ORDER BY delegation_id`,
        tenant,
        sub,
      ),
    delegations: ({ tenant, limit, before, sub }) =>
      connection.many<TableRow<'delegations'>>(
        `SELECT * FROM delegations WHERE tenant = ? AND delegation_id < ? AND (? IS NULL OR lent_by = ? OR lent_to = ?)
         ORDER BY delegation_id DESC LIMIT ?`,
        tenant,
        before ?? '~',
        sub,
        sub,
        sub,
        limit,
      ),
    overdueDelegations: (now, limit) =>
      connection.many<TableRow<'delegations'>>(
        `SELECT * FROM delegations WHERE status = 'active' AND until <= ? ORDER BY until LIMIT ?`,
        now,
        limit,
      ),
    dueEscalations: (now, limit) =>
      connection.many<TableRow<'approvals'>>(
        `SELECT * FROM approvals WHERE escalate_at IS NOT NULL AND escalate_at <= ? ORDER BY escalate_at LIMIT ?`,
        now,
        limit,
      ),
    owedReviewCount: async () => {
      const row = await connection.one<{ n: number }>('SELECT COUNT(*) AS n FROM approvals WHERE review_owed = 1');
      return row?.n ?? 0;
    },
  };
}
