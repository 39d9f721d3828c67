import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { JsonValue } from '../../domain/json/json-value.js';
import type { PlanReviewStatus } from '../../domain/plan-review/plan-review.state.js';
import { principalKey, principalOf } from '../../domain/principal.js';
import { escapeForDisplay } from '../../domain/text/escape-text.js';
import { escapeValue } from '../../domain/text/escape-value.js';
import { hasRole, type Caller } from '../../identity/caller.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { Store } from '../../storage/store.js';
import { runSeenBy } from './run-access.js';
import type { PageOf } from './tool-call.queries.js';

/** A plan as people see it: escaped; the digest is over the plan as it was sent. */
export interface PlanReviewView {
  readonly planReviewId: string;
  readonly runId: string;
  readonly status: PlanReviewStatus;
  /** Null once the key of its session is gone. */
  readonly plan: JsonValue;
  readonly digest: string;
  readonly decideBy: string;
  readonly decidedBy: string | null;
  readonly reason: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly links: Readonly<Record<string, string>>;
}

export class GetPlanReview extends Query<PlanReviewView> {
  constructor(
    readonly caller: Caller,
    readonly planReviewId: string,
  ) {
    super();
  }
}

/** Newest first: of one run or of all that the caller sees. A harness sees those of its own principal. */
export class ListPlanReviews extends Query<PageOf<PlanReviewView>> {
  constructor(
    readonly caller: Caller,
    readonly wanted: { readonly runId: string | null; readonly status: PlanReviewStatus | null },
    readonly limit: number,
    readonly cursor: string | null,
  ) {
    super();
  }
}

@QueryHandler(GetPlanReview)
export class GetPlanReviewHandler implements IQueryHandler<GetPlanReview> {
  constructor(private readonly store: Store) {}

  async execute({ caller, planReviewId }: GetPlanReview): Promise<PlanReviewView> {
    const row = await this.store.read.planReview(caller.tenant, planReviewId);
    const own = onlyOf(caller);
    if (row === null || (own !== null && row.principal !== own)) {
      throw new CountersignError('plan_review_not_found', 'there is no such plan review');
    }
    return view(this.store, row);
  }
}

@QueryHandler(ListPlanReviews)
export class ListPlanReviewsHandler implements IQueryHandler<ListPlanReviews> {
  constructor(private readonly store: Store) {}

  async execute({ caller, wanted, limit, cursor }: ListPlanReviews): Promise<PageOf<PlanReviewView>> {
    const { runId, status } = wanted;
    if (runId !== null) await runSeenBy(this.store, caller, runId, 'operator', 'auditor', 'approver');
    const query = { tenant: caller.tenant, limit: limit + 1, before: cursor, runId, principal: onlyOf(caller), status };
    const rows = await this.store.read.planReviews(query);
    const items = await Promise.all(rows.slice(0, limit).map((row) => view(this.store, row)));
    return { items, nextCursor: rows.length > limit ? (items.at(-1)?.planReviewId ?? null) : null };
  }
}

const onlyOf = (caller: Caller): string | null =>
  hasRole(caller, 'approver', 'operator', 'auditor') ? null : principalKey(principalOf(caller.actor));

async function view({ read }: Store, row: TableRow<'plan_reviews'>): Promise<PlanReviewView> {
  const required = await read.event(row.tenant, row.required_event_id);
  const last = row.decided_by === null ? null : await read.event(row.tenant, row.last_event_id);
  const reason = last?.payload['reason'];
  return {
    planReviewId: row.plan_review_id,
    runId: row.run_id,
    status: row.status,
    plan: escapeValue(required?.payload['plan'] ?? null),
    digest: row.plan_digest,
    decideBy: row.decide_by,
    decidedBy: row.decided_by,
    reason: typeof reason === 'string' ? escapeForDisplay(reason) : null,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    links: {
      self: `/v1/plan-reviews/${row.plan_review_id}`,
      decision: `/v1/plan-reviews/${row.plan_review_id}/decision`,
      run: `/v1/runs/${row.run_id}`,
    },
  };
}
