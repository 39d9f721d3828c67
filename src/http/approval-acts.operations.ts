import {
  breakGlassBody,
  decisionsAnswer,
  decisionsBody,
  delegateBody,
  delegateRevocationBody,
  editBody,
  editedAnswer,
  escalateBody,
  refusalBody,
  refusedAnswer,
  reviewBody,
  withdrawalBody,
} from '../client/contract/approval-acts.js';
import { approvalRepresentation } from '../client/contract/approvals.js';
import { DECIDING } from './approvals.operations.js';
import { COMMAND_KEY, COUNTERSIGN_COMMAND, ETAG, LOCATION } from './openapi/headers.js';
import type { Operation } from './openapi/operation.js';
import { PROPOSING } from './tool-calls.operations.js';
import { RECORDING } from './openapi/usual-refusals.js';

const AS_IT_IS = {
  200: {
    means: 'Recorded; the approval as it is now.',
    body: approvalRepresentation,
    headers: [ETAG, COUNTERSIGN_COMMAND],
  },
} as const;

const ACTING = ['invalid_idempotency_key', 'engine_error', ...DECIDING] as const;

export const WITHDRAW_VOTE = {
  id: 'withdrawVote',
  tag: 'Approvals',
  summary: 'Withdraw your own vote',
  description:
    'Until the approval is used. A grant that loses its quorum is invalidated, and the policy judges the call anew.',
  headers: [COMMAND_KEY],
  body: withdrawalBody,
  answers: AS_IT_IS,
  refusals: [...ACTING],
} as const satisfies Operation;

export const DELEGATE_APPROVAL = {
  id: 'delegateApproval',
  tag: 'Approvals',
  summary: 'Lend your right to decide',
  description: 'For this question only, one step, to another person. You and your deputy count as one person.',
  headers: [COMMAND_KEY],
  body: delegateBody,
  answers: AS_IT_IS,
  refusals: ['delegate_not_allowed', 'invalid_timestamp', ...ACTING],
} as const satisfies Operation;

export const REVOKE_APPROVAL_DELEGATION = {
  id: 'revokeApprovalDelegation',
  tag: 'Approvals',
  summary: 'Take back the right you lent for this question',
  description: 'What your deputy has said meanwhile stands.',
  headers: [COMMAND_KEY],
  body: delegateRevocationBody,
  answers: AS_IT_IS,
  refusals: [...ACTING],
} as const satisfies Operation;

export const ESCALATE_APPROVAL = {
  id: 'escalateApproval',
  tag: 'Approvals',
  summary: 'Ask a wider group as well',
  description:
    'One that the policy of the question names (`@escalate_to`) or `policy.escalationGroups` does. What its members say counts in the group that was asked.',
  headers: [COMMAND_KEY],
  body: escalateBody,
  answers: AS_IT_IS,
  refusals: [...ACTING],
} as const satisfies Operation;

export const BREAK_GLASS = {
  id: 'breakGlass',
  tag: 'Approvals',
  summary: 'Let it pass in an emergency',
  description:
    'For people in `policy.breakGlassGroups`: grants alone, is alarmed, and owes a review by another person. The policy may refuse it still.',
  headers: [COMMAND_KEY],
  body: breakGlassBody,
  answers: AS_IT_IS,
  refusals: [...ACTING],
} as const satisfies Operation;

export const REVIEW_BREAK_GLASS = {
  id: 'reviewBreakGlass',
  tag: 'Approvals',
  summary: 'Review an emergency',
  headers: [COMMAND_KEY],
  body: reviewBody,
  answers: AS_IT_IS,
  refusals: ['review_not_owed', ...ACTING],
} as const satisfies Operation;

export const EDIT_APPROVAL = {
  id: 'editApproval',
  tag: 'Approvals',
  summary: 'Propose other arguments',
  description:
    'A new call of the same principal, validated and judged like any other; the question about the old arguments closes. Who edits does not approve where requesters may not.',
  body: editBody,
  answers: { 202: { means: 'The new call.', body: editedAnswer, headers: [LOCATION] } },
  refusals: [...new Set([...DECIDING, ...PROPOSING])],
} as const satisfies Operation;

export const DECIDE_APPROVALS = {
  id: 'decideApprovals',
  tag: 'Approvals',
  summary: 'Decide many questions',
  description: 'Exactly the listed ones, each by itself: what is refused keeps nothing else from being recorded.',
  headers: [COMMAND_KEY],
  body: decisionsBody,
  answers: { 200: { means: 'What became of each.', body: decisionsAnswer } },
  refusals: ['invalid_idempotency_key', ...RECORDING],
} as const satisfies Operation;

export const REFUSE_TOOL_CALL = {
  id: 'refuseToolCall',
  tag: 'Tool calls',
  summary: 'Say no to a call that may be sent',
  description:
    'For approvers: an authorized call of which nothing was sent is denied, and no standing grant covers the same intent again.',
  headers: [COMMAND_KEY],
  body: refusalBody,
  answers: {
    200: { means: 'The call is denied.', body: refusedAnswer, headers: [COUNTERSIGN_COMMAND] },
  },
  refusals: [
    'approver_not_allowed',
    'tool_call_not_found',
    'tool_call_not_ready',
    'tool_call_already_ended',
    'invalid_idempotency_key',
    'command_id_conflict',
    ...RECORDING,
  ],
} as const satisfies Operation;
