import { acceptedCommand, commandRepresentation, controlBody } from '../client/contract/control.js';
import { DECIDING } from './approvals.operations.js';
import { COMMAND_KEY } from './openapi/headers.js';
import type { Operation } from './openapi/operation.js';
import { LOADING } from './sessions.operations.js';

export const ISSUE_COMMAND = {
  id: 'issueCommand',
  tag: 'Control',
  summary: 'Issue a control command',
  description:
    'Who may do what is a rule of each command; whoever may not is refused on record. An accepted command claims no effect: read it to see what it caused.',
  headers: [COMMAND_KEY],
  body: controlBody,
  answers: { 202: { means: 'The command is recorded.', body: acceptedCommand } },
  refusals: [
    'invalid_idempotency_key',
    'not_authorized',
    'run_not_found',
    'run_already_active',
    'run_stopping',
    'run_suspended',
    'run_not_resumable',
    'not_at_safe_point',
    'tool_call_not_found',
    'tool_call_already_ended',
    'tool_call_not_ready',
    'cancel_not_supported',
    'retry_forbidden_result_unknown',
    'retry_not_allowed',
    'precondition_failed',
    'capability_held',
    'engine_error',
    'paused',
    'already_paused',
    'not_paused',
    'policy_set_refused',
    'policy_activation_needs_approval',
    'store_held',
    'store_not_held',
    'session_live_open_turn',
    ...LOADING,
    ...DECIDING,
  ],
} as const satisfies Operation;

export const GET_COMMAND = {
  id: 'getCommand',
  tag: 'Control',
  summary: 'Read a control command',
  description: 'What became of it, for its issuer, operators and auditors.',
  answers: { 200: { means: 'The command.', body: commandRepresentation } },
  refusals: ['command_not_found'],
} as const satisfies Operation;
