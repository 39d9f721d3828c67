import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import { escapeForDisplay } from '../../domain/text/escape-text.js';
import { escapeValue } from '../../domain/text/escape-value.js';
import { hasRole, type Caller } from '../../identity/caller.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { Store } from '../../storage/store.js';
import type { PageOf } from './tool-call.queries.js';

/** A standing allow as people see it. */
export interface GrantView {
  readonly grantId: string;
  readonly status: 'active' | 'revoked' | 'expired';
  readonly by: string;
  readonly capability: string;
  readonly group: string;
  readonly principal: { readonly sub: string | null; readonly act: string | null };
  readonly argumentsEqual: JsonObject | null;
  readonly until: string;
  readonly reason: string | null;
  readonly revokedBy: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A standing delegation as people see it. */
export interface DelegationView {
  readonly delegationId: string;
  readonly status: 'active' | 'revoked' | 'expired';
  readonly by: string;
  readonly to: string;
  readonly groups: readonly string[];
  readonly until: string;
  readonly reason: string | null;
  readonly revokedBy: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export class GetGrant extends Query<GrantView> {
  constructor(
    readonly caller: Caller,
    readonly grantId: string,
  ) {
    super();
  }
}

/** Standing allows of the tenant, newest first. */
export class ListGrants extends Query<PageOf<GrantView>> {
  constructor(
    readonly caller: Caller,
    readonly limit: number,
    readonly cursor: string | null,
  ) {
    super();
  }
}

export class GetDelegation extends Query<DelegationView> {
  constructor(
    readonly caller: Caller,
    readonly delegationId: string,
  ) {
    super();
  }
}

/** Operators and auditors see those of everybody, others those by or to them; newest first. */
export class ListDelegations extends Query<PageOf<DelegationView>> {
  constructor(
    readonly caller: Caller,
    readonly limit: number,
    readonly cursor: string | null,
  ) {
    super();
  }
}

@QueryHandler(GetGrant)
export class GetGrantHandler implements IQueryHandler<GetGrant> {
  constructor(private readonly store: Store) {}

  async execute({ caller, grantId }: GetGrant): Promise<GrantView> {
    const row = await this.store.read.grant(caller.tenant, grantId);
    if (row === null) throw new CountersignError('not_found', 'there is no such grant');
    return grantView(this.store, row);
  }
}

@QueryHandler(ListGrants)
export class ListGrantsHandler implements IQueryHandler<ListGrants> {
  constructor(private readonly store: Store) {}

  async execute({ caller, limit, cursor }: ListGrants): Promise<PageOf<GrantView>> {
    const query = { tenant: caller.tenant, limit: limit + 1, before: cursor, sub: null };
    const rows = await this.store.read.grants(query);
    const items = await Promise.all(rows.slice(0, limit).map((row) => grantView(this.store, row)));
    return { items, nextCursor: rows.length > limit ? (items.at(-1)?.grantId ?? null) : null };
  }
}

@QueryHandler(GetDelegation)
export class GetDelegationHandler implements IQueryHandler<GetDelegation> {
  constructor(private readonly store: Store) {}

  async execute({ caller, delegationId }: GetDelegation): Promise<DelegationView> {
    const row = await this.store.read.delegation(caller.tenant, delegationId);
    const sees = row !== null && [null, row.lent_by, row.lent_to].includes(only(caller));
    if (!sees) throw new CountersignError('not_found', 'there is no such delegation');
    return delegationView(this.store, row);
  }
}

@QueryHandler(ListDelegations)
export class ListDelegationsHandler implements IQueryHandler<ListDelegations> {
  constructor(private readonly store: Store) {}

  async execute({ caller, limit, cursor }: ListDelegations): Promise<PageOf<DelegationView>> {
    const query = { tenant: caller.tenant, limit: limit + 1, before: cursor, sub: only(caller) };
    const rows = await this.store.read.delegations(query);
    const items = await Promise.all(rows.slice(0, limit).map((row) => delegationView(this.store, row)));
    return { items, nextCursor: rows.length > limit ? (items.at(-1)?.delegationId ?? null) : null };
  }
}

const only = (caller: Caller): string | null => (hasRole(caller, 'operator', 'auditor') ? null : caller.actor.sub);

async function grantView(store: Store, row: TableRow<'grants'>): Promise<GrantView> {
  const payload = (await store.read.event(row.tenant, row.created_event_id))?.payload ?? {};
  const equal = payload['argumentsEqual'] ?? null;
  return {
    grantId: row.grant_id,
    status: row.status,
    by: row.granted_by,
    capability: row.capability,
    group: row.approver_group,
    principal: { sub: row.principal_sub, act: row.principal_act },
    argumentsEqual: equal === null ? null : (escapeValue(equal) as JsonObject),
    until: row.until,
    reason: shown(payload['reason']),
    revokedBy: row.revoked_by,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

async function delegationView(store: Store, row: TableRow<'delegations'>): Promise<DelegationView> {
  const payload = (await store.read.event(row.tenant, row.created_event_id))?.payload ?? {};
  return {
    delegationId: row.delegation_id,
    status: row.status,
    by: row.lent_by,
    to: row.lent_to,
    groups: JSON.parse(row.groups) as readonly string[],
    until: row.until,
    reason: shown(payload['reason']),
    revokedBy: row.revoked_by,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

const shown = (text: unknown): string | null => (typeof text === 'string' ? escapeForDisplay(text) : null);
