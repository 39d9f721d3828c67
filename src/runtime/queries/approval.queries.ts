import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { ApprovalStatus } from '../../domain/approval/approval.state.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { Caller } from '../../identity/caller.js';
import { Store } from '../../storage/store.js';
import { loadApproval } from '../../storage/units/load.js';
import { ApprovalViews, type ApprovalView } from '../views/approval.view.js';
import type { PageOf } from './tool-call.queries.js';

/** One approval of the tenant. Reading changes nothing. */
export class GetApproval extends Query<ApprovalView> {
  constructor(
    readonly caller: Caller,
    readonly approvalId: string,
  ) {
    super();
  }
}

/** Approvals of the tenant, newest first. */
export class ListApprovals extends Query<PageOf<ApprovalView>> {
  constructor(
    readonly caller: Caller,
    readonly status: ApprovalStatus | null,
    readonly limit: number,
    readonly cursor: string | null,
    readonly only: { readonly batchId?: string; readonly reviewOwedOnly?: boolean } = {},
  ) {
    super();
  }
}

@QueryHandler(GetApproval)
export class GetApprovalHandler implements IQueryHandler<GetApproval> {
  constructor(
    private readonly store: Store,
    private readonly views: ApprovalViews,
  ) {}

  async execute({ caller, approvalId }: GetApproval): Promise<ApprovalView> {
    const approval = await loadApproval(this.store.read, caller.tenant, approvalId);
    if (approval === null) throw new CountersignError('approval_not_found', 'there is no such approval');
    return this.views.of(approval);
  }
}

@QueryHandler(ListApprovals)
export class ListApprovalsHandler implements IQueryHandler<ListApprovals> {
  constructor(
    private readonly store: Store,
    private readonly views: ApprovalViews,
  ) {}

  async execute({ caller, status, limit, cursor, only }: ListApprovals): Promise<PageOf<ApprovalView>> {
    const { tenant } = caller;
    const page = await this.store.read.approvals({
      tenant,
      limit,
      cursor,
      ...(status === null ? {} : { statuses: [status] }),
      ...only,
    });
    const items: ApprovalView[] = [];
    for (const row of page.rows) {
      const approval = await loadApproval(this.store.read, tenant, row.approval_id);
      if (approval !== null) items.push(await this.views.of(approval));
    }
    return { items, nextCursor: page.nextCursor };
  }
}
