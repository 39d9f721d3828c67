import { describe, expect, it } from '@jest/globals';
import { fullAgentState } from '../../../../test/builders/session-snapshots.js';
import type { PendingApprovalBatch, PendingPlanReview } from '../session-state.js';
import { decodeApprovalBatch, decodePlanReview, encodeApprovalBatch, encodePlanReview } from './pending-codec.js';
import { NO_SECRETS } from './plain-json.js';

const BATCH = fullAgentState().pendingApproval as PendingApprovalBatch;
const REVIEW = fullAgentState().pendingPlanReview as PendingPlanReview;
const textOf = (result: ReturnType<typeof encodeApprovalBatch>): string => (result.ok ? result.value : '');

describe('a frozen batch and a plan review', () => {
  it('are each pure data by themselves, and come back equal [A-09, A-82]', () => {
    expect(decodeApprovalBatch(textOf(encodeApprovalBatch(BATCH, NO_SECRETS)))).toEqual({ ok: true, value: BATCH });
    expect(decodePlanReview(textOf(encodePlanReview(REVIEW, NO_SECRETS)))).toEqual({ ok: true, value: REVIEW });
  });

  it('are refused by the code of the field, both ways [A-80, A-86]', () => {
    const broken = { ...BATCH, frozenAt: 7 } as unknown as PendingApprovalBatch;
    expect(encodeApprovalBatch(broken, NO_SECRETS)).toMatchObject({ problem: { code: 'frozen_at_type' } });
    expect(decodeApprovalBatch(JSON.stringify(broken))).toMatchObject({ problem: { code: 'frozen_at_type' } });
    expect(decodePlanReview(JSON.stringify({ ...REVIEW, plan: undefined }))).toMatchObject({
      problem: { code: 'plan_type', path: '/plan' },
    });
    for (const text of ['', '[]', '5', 'null', '{']) {
      expect(decodePlanReview(text).ok).toBe(false);
      expect(decodeApprovalBatch(text).ok).toBe(false);
    }
  });

  it('hold no handle and no secret [A-10]', () => {
    const plan = { inner: new AbortController() } as never;
    expect(encodePlanReview({ ...REVIEW, plan }, NO_SECRETS)).toMatchObject({
      problem: { code: 'state_not_serializable', path: '/plan/inner' },
    });
    expect(encodeApprovalBatch(BATCH, (text) => text === 'large amount')).toMatchObject({
      problem: { code: 'secret_in_payload', path: '/items/0/reason' },
    });
  });
});
