import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { Producer } from '../../domain/events/catalogue.js';
import type { PlanReviewCommand } from '../../domain/plan-review/plan-review.commands.js';
import { decidePlanReview } from '../../domain/plan-review/plan-review.decide.js';
import { evolvePlanReview } from '../../domain/plan-review/plan-review.evolve.js';
import type { PlanReviewState } from '../../domain/plan-review/plan-review.state.js';
import type { StoreReader } from '../readers/store-reader.js';
import { planReviewRow, planReviewState, type PlanReviewFacts } from '../rows/plan-review.row.js';
import type { TableRow } from '../rows/tables.js';
import type { Guard } from '../unit.js';
import type { UnitDraft } from './unit-draft.js';

export interface PlanReviewBefore {
  readonly state: PlanReviewState | null;
  readonly facts: PlanReviewFacts;
}

export function loadedPlanReview(row: TableRow<'plan_reviews'>): PlanReviewBefore {
  const { status: _, plan_digest: _d, requesters: _r, decide_by: _b, decided_by: _w, ...facts } = row;
  return { state: planReviewState(row), facts };
}

/** A review that does not exist yet. */
export function planReviewToBe(run: TableRow<'runs'>, planReviewId: string, now: string): PlanReviewBefore {
  const { tenant, principal, run_id, session_id } = run;
  const times = { created_at: now, updated_at: now };
  const events = { version: 0, required_event_id: '', last_event_id: '' };
  return {
    state: null,
    facts: { plan_review_id: planReviewId, tenant, principal, run_id, session_id, ...events, ...times },
  };
}

/**
 * Decides, appends and writes the row of one review. False where the machine has nothing to record.
 *
 * @throws CountersignError when the machine refuses
 */
export function changePlanReview(
  draft: UnitDraft,
  before: PlanReviewBefore,
  command: PlanReviewCommand,
  producer?: Producer,
): boolean {
  const decided = decidePlanReview(before.state, command);
  if (!decided.ok) throw new CountersignError(decided.code, decided.message);
  const { facts } = before;
  const refs = { runId: facts.run_id, sessionId: facts.session_id };
  const stream = { kind: 'plan_review', id: facts.plan_review_id } as const;
  const lastEventId = draft.append(stream, facts.version, decided.events, refs, producer).at(-1);
  if (lastEventId === undefined) return false;
  const state = decided.events.reduce<PlanReviewState | null>(evolvePlanReview, before.state);
  if (state === null) throw new Error('an event makes a state');
  const after: PlanReviewFacts = {
    ...facts,
    version: facts.version + decided.events.length,
    required_event_id: before.state === null ? lastEventId : facts.required_event_id,
    last_event_id: lastEventId,
    updated_at: draft.context.occurredAt,
  };
  const row = planReviewRow(after, state);
  const where = { plan_review_id: facts.plan_review_id, version: facts.version };
  draft.write(
    before.state === null
      ? { op: 'insert', table: 'plan_reviews', row, takenGuard: 'plan_review' }
      : { op: 'set', table: 'plan_reviews', where, set: row, guard: 'plan_review' },
  );
  return true;
}

/** What people are asked about a plan is asked no more when its run has ended. */
export async function closePlanReview(read: StoreReader, draft: UnitDraft, run: TableRow<'runs'>): Promise<void> {
  const latest = await read.latestPlanReview(run.tenant, run.run_id);
  if (latest?.status === 'pending') changePlanReview(draft, loadedPlanReview(latest), { kind: 'end_run' });
}

export const hasNoPendingPlanReview = (runId: string): Guard => ({
  name: 'no_plan_review',
  table: 'plan_reviews',
  where: { run_id: runId, status: 'pending' },
  expect: 'absent',
});
