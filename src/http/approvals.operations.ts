import { approvalListQuery, approvalPage, approvalRepresentation, decisionBody } from '../client/contract/approvals.js';
import type { ErrorCode } from '../domain/errors/error-codes.js';
import { COMMAND_KEY, COUNTERSIGN_COMMAND, ETAG, IF_MATCH } from './openapi/headers.js';
import type { Operation } from './openapi/operation.js';
import { RECORDING } from './openapi/usual-refusals.js';

/** What a decision can be refused with, whichever way it comes. */
export const DECIDING: readonly ErrorCode[] = [
  'approver_not_allowed',
  'approval_not_found',
  'approval_not_pending',
  'approval_already_decided',
  'approval_already_consumed',
  'approval_expired',
  'action_digest_mismatch',
  'policy_version_changed',
  'capability_version_changed',
  'precondition_changed',
  'precondition_unavailable',
  'run_already_ended',
  'command_id_conflict',
  ...RECORDING,
];

export const LIST_APPROVALS = {
  id: 'listApprovals',
  tag: 'Approvals',
  summary: 'List approvals',
  query: approvalListQuery,
  answers: { 200: { means: 'A page of approvals of the tenant, newest first.', body: approvalPage } },
  refusals: [],
} as const satisfies Operation;

export const GET_APPROVAL = {
  id: 'getApproval',
  tag: 'Approvals',
  summary: 'Read an approval',
  description: 'Shows in full what would run. Reading never decides.',
  answers: {
    200: {
      means: 'The approval.',
      body: approvalRepresentation,
      text: { 'text/html': 'The same for a browser, without a form.' },
      headers: [ETAG],
    },
  },
  refusals: ['approval_not_found'],
} as const satisfies Operation;

export const DECIDE_APPROVAL = {
  id: 'decideApproval',
  tag: 'Approvals',
  summary: 'Allow or deny',
  description:
    'For approvers: consent to exactly what the approval showed, named by its `digest`. The first decision stands. Whoever may not is refused on record.',
  headers: [IF_MATCH, COMMAND_KEY],
  body: decisionBody,
  answers: {
    200: {
      means: 'The decision is recorded; the approval as it is now.',
      body: approvalRepresentation,
      headers: [ETAG, COUNTERSIGN_COMMAND],
    },
  },
  refusals: ['version_stale', 'invalid_idempotency_key', ...DECIDING],
} as const satisfies Operation;
