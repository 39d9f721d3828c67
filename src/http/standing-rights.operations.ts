import {
  delegationBody,
  delegationPage,
  delegationRepresentation,
  grantBody,
  grantPage,
  grantRepresentation,
  revocationBody,
  standingListQuery,
} from '../client/contract/approval-acts.js';
import type { ErrorCode } from '../domain/errors/error-codes.js';
import { COMMAND_KEY, COUNTERSIGN_COMMAND } from './openapi/headers.js';
import type { Operation } from './openapi/operation.js';
import { RECORDING } from './openapi/usual-refusals.js';

const GIVING: readonly ErrorCode[] = [
  'approver_not_allowed',
  'invalid_timestamp',
  'invalid_idempotency_key',
  'command_id_conflict',
  ...RECORDING,
];
const REVOKING: readonly ErrorCode[] = [
  'approver_not_allowed',
  'standing_right_ended',
  'invalid_idempotency_key',
  'command_id_conflict',
  ...RECORDING,
];

export const CREATE_GRANT = {
  id: 'createGrant',
  tag: 'Approvals',
  summary: 'Give a standing allow',
  description:
    'Counts as your allow in your group, for such calls, until its time is over or it is revoked. An explicit refusal of one call beats it.',
  headers: [COMMAND_KEY],
  body: grantBody,
  answers: { 201: { means: 'It stands.', body: grantRepresentation, headers: [COUNTERSIGN_COMMAND] } },
  refusals: ['capability_unknown', ...GIVING],
} as const satisfies Operation;

export const LIST_GRANTS = {
  id: 'listGrants',
  tag: 'Approvals',
  summary: 'List standing allows',
  query: standingListQuery,
  answers: { 200: { means: 'Of the tenant, newest first.', body: grantPage } },
  refusals: [],
} as const satisfies Operation;

export const GET_GRANT = {
  id: 'getGrant',
  tag: 'Approvals',
  summary: 'Read a standing allow',
  answers: { 200: { means: 'The grant.', body: grantRepresentation } },
  refusals: [],
} as const satisfies Operation;

export const REVOKE_GRANT = {
  id: 'revokeGrant',
  tag: 'Approvals',
  summary: 'Take a standing allow back',
  description: 'For its owner, members of its group and operators: it counts no more from this answer on.',
  headers: [COMMAND_KEY],
  body: revocationBody,
  answers: { 200: { means: 'It counts no more.', body: grantRepresentation, headers: [COUNTERSIGN_COMMAND] } },
  refusals: REVOKING,
} as const satisfies Operation;

export const CREATE_DELEGATION = {
  id: 'createDelegation',
  tag: 'Approvals',
  summary: 'Lend your right to decide for a time',
  description: 'To one other person, one step. You and your deputy count as one person.',
  headers: [COMMAND_KEY],
  body: delegationBody,
  answers: { 201: { means: 'It stands.', body: delegationRepresentation, headers: [COUNTERSIGN_COMMAND] } },
  refusals: ['delegate_not_allowed', ...GIVING],
} as const satisfies Operation;

export const LIST_DELEGATIONS = {
  id: 'listDelegations',
  tag: 'Approvals',
  summary: 'List standing delegations',
  query: standingListQuery,
  answers: {
    200: { means: 'For operators and auditors all of the tenant; for others by or to them.', body: delegationPage },
  },
  refusals: [],
} as const satisfies Operation;

export const REVOKE_DELEGATION = {
  id: 'revokeDelegation',
  tag: 'Approvals',
  summary: 'Take a standing delegation back',
  headers: [COMMAND_KEY],
  body: revocationBody,
  answers: { 200: { means: 'It counts no more.', body: delegationRepresentation, headers: [COUNTERSIGN_COMMAND] } },
  refusals: REVOKING,
} as const satisfies Operation;
