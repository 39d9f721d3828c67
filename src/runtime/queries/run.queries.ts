import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { isEnded } from '../../domain/run/run.state.js';
import type { Caller } from '../../identity/caller.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { Store } from '../../storage/store.js';
import { stopView, type StopView } from '../views/stop.view.js';
import { runSeenBy } from './run-access.js';

export interface RunView {
  readonly runId: string;
  readonly status: string;
  readonly implicit: boolean;
  readonly label: string | null;
  readonly principal: { readonly sub: string; readonly act: string | null };
  readonly openCalls: number;
  /** The newest plan that people were shown was approved. */
  readonly planReviewApproved: boolean;
  /** A stop would be admitted. */
  readonly canStop: boolean;
  /** How far a stop has come; null while nobody has asked for one. */
  readonly stop: StopView | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly links: Readonly<Record<string, string>>;
}

export class GetRun extends Query<RunView> {
  constructor(
    readonly caller: Caller,
    readonly runId: string,
  ) {
    super();
  }
}

@QueryHandler(GetRun)
export class GetRunHandler implements IQueryHandler<GetRun> {
  constructor(private readonly store: Store) {}

  async execute({ caller, runId }: GetRun): Promise<RunView> {
    const row = await runSeenBy(this.store, caller, runId, 'operator', 'auditor', 'approver');
    const [sub, act] = JSON.parse(row.principal) as readonly string[];
    const review = await this.store.read.latestPlanReview(row.tenant, row.run_id);
    return {
      runId: row.run_id,
      status: await this.statusOf(row, review?.status === 'pending'),
      implicit: row.implicit === 1,
      label: row.label?.startsWith('label:') === true ? row.label.slice('label:'.length) : null,
      principal: { sub: sub ?? '', act: act ?? null },
      openCalls: await this.store.read.openCallCount(row.tenant, row.run_id),
      planReviewApproved: review?.status === 'approved',
      canStop: row.status !== 'stopping' && !isEnded(row.status),
      stop: row.status === 'stopping' || row.status === 'stopped' ? await stopView(this.store.read, row) : null,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
      links: {
        self: `/v1/runs/${row.run_id}`,
        toolCalls: `/v1/tool-calls?runId=${row.run_id}`,
        view: `/v1/runs/${row.run_id}/view`,
        planReviews: `/v1/plan-reviews?runId=${row.run_id}`,
        timeline: `/v1/runs/${row.run_id}/timeline`,
      },
    };
  }

  /** Waits are not stored: they are what the run's open calls, approvals and plan review show, in order of precedence. */
  private async statusOf(row: TableRow<'runs'>, isReviewed: boolean): Promise<string> {
    if (row.status !== 'running') return row.status;
    const unknown = await this.store.read.toolCalls({
      tenant: row.tenant,
      runId: row.run_id,
      statuses: ['result_unknown', 'reconciling'],
      limit: 200,
    });
    if (unknown.rows.some((call) => call.effect !== 'read_only')) return 'awaiting_reconciliation';
    if ((await this.store.read.pendingApprovalCount(row.tenant, row.run_id)) > 0) return 'waiting_for_approval';
    return isReviewed ? 'waiting_for_plan_review' : row.status;
  }
}
