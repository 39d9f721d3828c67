import type { ErrorCode } from '../domain/errors/error-codes.js';
import { compensationBody } from '../client/contract/run-control.js';
import {
  proposeToolCallBody,
  resolutionBody,
  toolCallListQuery,
  toolCallPage,
  toolCallRepresentation,
  waitQuery,
} from '../client/contract/tool-calls.js';
import {
  IDEMPOTENCY_KEY,
  IDEMPOTENT_REPLAYED,
  LOCATION,
  PREFER,
  PREFERENCE_APPLIED,
  RUN_ID,
} from './openapi/headers.js';
import type { Operation } from './openapi/operation.js';
import { RECORDING } from './openapi/usual-refusals.js';

const ENDED = 'The call has ended.';
const GOING_ON = 'The call has not ended: `waitingFor` says who or what it waits for.';

const PROPOSED = [LOCATION, IDEMPOTENT_REPLAYED, PREFERENCE_APPLIED];

/** What a proposal can be refused with, whoever makes it. */
export const PROPOSING: readonly ErrorCode[] = [
  'idempotency_key_required',
  'invalid_idempotency_key',
  'invalid_run_label',
  'invalid_timestamp',
  'capability_unknown',
  'capability_version_unknown',
  'capability_version_changed',
  'capability_paused',
  'capability_held',
  'invalid_arguments',
  'idempotency_conflict',
  'call_id_conflict',
  'outstanding_identical_intent',
  'dangling_reference',
  'run_not_found',
  'run_already_ended',
  'run_stopping',
  'run_suspended',
  'paused',
  'store_held',
  'engine_error',
  'precondition_unavailable',
  ...RECORDING,
  'too_many_open_approvals',
];

export const PROPOSE_TOOL_CALL = {
  id: 'proposeToolCall',
  tag: 'Tool calls',
  summary: 'Propose a tool call',
  description:
    'Asks for one effect. The policy decides, people are asked where it says so, and the effect happens at most once. A denial is not an error: it is a call in state `denied`.',
  headers: [IDEMPOTENCY_KEY, RUN_ID, PREFER],
  body: proposeToolCallBody,
  answers: {
    200: { means: ENDED, body: toolCallRepresentation, headers: PROPOSED },
    202: { means: GOING_ON, body: toolCallRepresentation, headers: PROPOSED },
  },
  refusals: PROPOSING,
} as const satisfies Operation;

export const GET_TOOL_CALL = {
  id: 'getToolCall',
  tag: 'Tool calls',
  summary: 'Read a tool call',
  description: 'With `wait`, once it has ended or the time is over. A harness reads the calls of its own principal.',
  query: waitQuery,
  answers: {
    200: { means: ENDED, body: toolCallRepresentation },
    202: { means: GOING_ON, body: toolCallRepresentation },
  },
  refusals: ['tool_call_not_found'],
} as const satisfies Operation;

export const LIST_TOOL_CALLS = {
  id: 'listToolCalls',
  tag: 'Tool calls',
  summary: 'List tool calls',
  query: toolCallListQuery,
  answers: { 200: { means: 'A page of calls of the tenant, newest first.', body: toolCallPage } },
  refusals: [],
} as const satisfies Operation;

export const RESOLVE_TOOL_CALL = {
  id: 'resolveToolCall',
  tag: 'Tool calls',
  summary: 'Settle a handoff with evidence',
  description: 'For operators: says what became of a call in `manual_handoff`. Whoever may not is refused on record.',
  body: resolutionBody,
  answers: {
    200: { means: 'The finding is recorded.', body: toolCallRepresentation },
    202: { means: 'The finding is recorded, and the call goes on.', body: toolCallRepresentation },
  },
  refusals: [
    'not_authorized',
    'tool_call_not_found',
    'tool_call_not_ready',
    'handoff_not_open',
    'second_person_required',
    'evidence_required',
    'command_id_conflict',
    ...RECORDING,
  ],
} as const satisfies Operation;

export const COMPENSATE_TOOL_CALL = {
  id: 'compensateToolCall',
  tag: 'Tool calls',
  summary: 'Propose the call that undoes this one',
  description:
    'The manifest names the capability and takes its arguments from the record. It is a call of its own: judged, countersigned where the policy says so, sent at most once. A call has one compensation.',
  body: compensationBody,
  answers: {
    200: { means: ENDED, body: toolCallRepresentation, headers: [LOCATION, IDEMPOTENT_REPLAYED] },
    202: { means: GOING_ON, body: toolCallRepresentation, headers: [LOCATION, IDEMPOTENT_REPLAYED] },
  },
  refusals: [
    'tool_call_not_found',
    'compensation_not_possible',
    'compensation_not_declared',
    'capability_version_changed',
    'capability_unknown',
    'capability_paused',
    'capability_held',
    'invalid_arguments',
    'outstanding_identical_intent',
    'run_stopping',
    'run_suspended',
    'paused',
    'store_held',
    'engine_error',
    'precondition_unavailable',
    ...RECORDING,
  ],
} as const satisfies Operation;
