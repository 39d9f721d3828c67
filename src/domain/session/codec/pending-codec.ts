import type { PendingApprovalBatch, PendingPlanReview, PendingRunCheckpoint } from '../session-state.js';
import { attempt, type CodecResult } from './codec-result.js';
import { FieldReader, isFields } from './field-reader.js';
import { requirePlain, type SecretTest } from './plain-json.js';

export function readApprovalBatch(fields: FieldReader): PendingApprovalBatch {
  return {
    approvalBatchId: fields.text('approvalBatchId'),
    runId: fields.text('runId'),
    turnId: fields.textOrNull('turnId'),
    stepId: fields.textOrNull('stepId'),
    frozenAt: fields.text('frozenAt'),
    items: fields.items('items', (item) => ({
      approvalId: item.text('approvalId'),
      toolCallId: item.text('toolCallId'),
      capabilityId: item.text('capabilityId'),
      capabilityVersion: item.text('capabilityVersion'),
      argsDigest: item.text('argsDigest'),
      frozenArgs: item.json('frozenArgs'),
      policyDecisionId: item.text('policyDecisionId'),
      risk: item.text('risk'),
      reason: item.text('reason'),
      status: item.text('status'),
      expiresAt: item.text('expiresAt'),
    })),
  };
}

export function readPlanReview(fields: FieldReader): PendingPlanReview {
  return {
    planReviewId: fields.text('planReviewId'),
    runId: fields.text('runId'),
    turnId: fields.textOrNull('turnId'),
    plan: fields.json('plan'),
    planDigest: fields.text('planDigest'),
    requestedAt: fields.text('requestedAt'),
    status: fields.text('status'),
    ...fields.optionalText('expiresAt'),
  };
}

export function readRunCheckpoint(fields: FieldReader): PendingRunCheckpoint {
  return {
    checkpointId: fields.text('checkpointId'),
    runId: fields.text('runId'),
    ...fields.optionalText('turnId'),
    kind: fields.text('kind'),
    seq: fields.count('seq'),
    createdAt: fields.text('createdAt'),
    reason: fields.text('reason'),
  };
}

/** A frozen batch by itself: pure data that another process can decide on. The same rules both ways. */
export function encodeApprovalBatch(batch: PendingApprovalBatch, isSecret: SecretTest): CodecResult<string> {
  return encodePart(batch, isSecret, (fields) => readApprovalBatch(fields));
}

export function decodeApprovalBatch(text: string): CodecResult<PendingApprovalBatch> {
  return decodePart(text, 'pending_approval_type', (fields) => readApprovalBatch(fields));
}

export function encodePlanReview(review: PendingPlanReview, isSecret: SecretTest): CodecResult<string> {
  return encodePart(review, isSecret, (fields) => readPlanReview(fields));
}

export function decodePlanReview(text: string): CodecResult<PendingPlanReview> {
  return decodePart(text, 'pending_plan_review_type', (fields) => readPlanReview(fields));
}

function encodePart<T>(part: object, isSecret: SecretTest, read: (fields: FieldReader) => T): CodecResult<string> {
  return attempt(() => {
    requirePlain(part, isSecret);
    return JSON.stringify(read(new FieldReader(part as Readonly<Record<string, unknown>>, [])));
  }, 'state_not_serializable');
}

function decodePart<T>(text: string, notAnObject: string, read: (fields: FieldReader) => T): CodecResult<T> {
  return attempt(() => {
    const value: unknown = JSON.parse(text);
    requirePlain(value, () => false);
    return read(new FieldReader(isFields(value) ? value : {}, []));
  }, notAnObject);
}
