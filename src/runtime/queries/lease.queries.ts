import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { LeaseStatus } from '../../domain/lease/lease.state.js';
import type { Caller } from '../../identity/caller.js';
import { Store } from '../../storage/store.js';
import { leaseView, type LeaseView } from '../views/lease.view.js';
import type { PageOf } from './tool-call.queries.js';

/** One lease of the tenant. */
export class GetLease extends Query<LeaseView> {
  constructor(
    readonly caller: Caller,
    readonly leaseId: string,
  ) {
    super();
  }
}

export interface LeaseFilter {
  readonly status: LeaseStatus | null;
  readonly toolCallId: string | null;
  readonly runId: string | null;
}

/** Leases of the tenant, newest first. */
export class ListLeases extends Query<PageOf<LeaseView>> {
  constructor(
    readonly caller: Caller,
    readonly filter: LeaseFilter,
    readonly limit: number,
    readonly cursor: string | null,
  ) {
    super();
  }
}

@QueryHandler(GetLease)
export class GetLeaseHandler implements IQueryHandler<GetLease> {
  constructor(private readonly store: Store) {}

  async execute({ caller, leaseId }: GetLease): Promise<LeaseView> {
    const row = await this.store.read.lease(caller.tenant, leaseId);
    if (row === null) throw new CountersignError('lease_not_found', 'there is no such lease');
    return leaseView(row);
  }
}

@QueryHandler(ListLeases)
export class ListLeasesHandler implements IQueryHandler<ListLeases> {
  constructor(private readonly store: Store) {}

  async execute({ caller, filter, limit, cursor }: ListLeases): Promise<PageOf<LeaseView>> {
    const { status, toolCallId, runId } = filter;
    const page = await this.store.read.leases({
      tenant: caller.tenant,
      limit,
      cursor,
      ...(status === null ? {} : { statuses: [status] }),
      ...(toolCallId === null ? {} : { toolCallId }),
      ...(runId === null ? {} : { runId }),
    });
    return { items: page.rows.map(leaseView), nextCursor: page.nextCursor };
  }
}
