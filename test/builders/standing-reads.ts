import type { StandingReader } from '../../src/storage/readers/standing.reader.js';
import type { TableName, TableRow } from '../../src/storage/rows/tables.js';

interface Rows {
  rows<T extends TableName>(table: T): readonly TableRow<T>[];
}

/** What the store in memory answers about standing rights. */
export function standingReads(store: Rows): StandingReader {
  return {
    grant: async (tenant, id) =>
      store.rows('grants').find((row) => row.tenant === tenant && row.grant_id === id) ?? null,
    activeGrants: async (tenant, capability) =>
      store
        .rows('grants')
        .filter((row) => row.tenant === tenant && row.capability === capability && row.status === 'active'),
    grants: async ({ tenant, sub, limit }) =>
      store
        .rows('grants')
        .filter((row) => row.tenant === tenant && (sub === null || row.granted_by === sub))
        .slice(0, limit),
    activeGrantCount: async () => store.rows('grants').filter(({ status }) => status === 'active').length,
    overdueStandingGrants: async (now, limit) =>
      store
        .rows('grants')
        .filter(({ status, until }) => status === 'active' && until <= now)
        .slice(0, limit),
    delegation: async (tenant, id) =>
      store.rows('delegations').find((row) => row.tenant === tenant && row.delegation_id === id) ?? null,
    delegationsTo: async (tenant, sub) =>
      store
        .rows('delegations')
        .filter((row) => row.tenant === tenant && row.lent_to === sub && row.status === 'active'),
    delegations: async ({ tenant, sub, limit }) =>
      store
        .rows('delegations')
        .filter((row) => row.tenant === tenant && (sub === null || row.lent_by === sub || row.lent_to === sub))
        .slice(0, limit),
    overdueDelegations: async (now, limit) =>
      store
        .rows('delegations')
        .filter(({ status, until }) => status === 'active' && until <= now)
        .slice(0, limit),
    refusedIntent: async (tenant, digest) =>
      store.rows('refused_intents').find((row) => row.tenant === tenant && row.intent_digest === digest) ?? null,
    dueEscalations: async (now, limit) =>
      store
        .rows('approvals')
        .filter(({ escalate_at }) => escalate_at !== null && escalate_at <= now)
        .slice(0, limit),
    owedReviewCount: async () => store.rows('approvals').filter(({ review_owed }) => review_owed === 1).length,
  };
}
