import { z } from 'zod';
import { runRepresentation } from '../client/contract/runs.js';
import {
  appendAnswer,
  appendEventsBody,
  appendQuery,
  attachSessionBody,
  detachSessionBody,
  flushAnswer,
  flushBody,
  inspectAnswer,
  inspectQuery,
  notResumableBody,
  openSessionBody,
  resumePacket,
  saveStateBody,
  sessionEventPage,
  sessionEventsQuery,
  sessionListQuery,
  sessionPage,
  sessionRepresentation,
  startRunBody,
  stateRepresentation,
} from '../client/contract/sessions.js';
import { READ_EVENTS } from './events.operations.js';
import type { AnswerHeader } from './openapi/headers.js';
import type { Operation } from './openapi/operation.js';
import { RECORDING } from './openapi/usual-refusals.js';

const SESSION_LOCATION = {
  name: 'Location',
  means: 'Where the session can be read.',
  always: true,
  schema: z.string().regex(/^\/v1\/sessions\//),
} as const satisfies AnswerHeader;

const RUN_LOCATION = {
  name: 'Location',
  means: 'Where the run can be read.',
  always: true,
  schema: z.string().regex(/^\/v1\/runs\//),
} as const satisfies AnswerHeader;

const NAMED = ['invalid_session_id', 'session_not_found', 'session_deleted'] as const;

/** What a load refuses instead of guessing. */
export const LOADING = [
  ...NAMED,
  'session_identity_mismatch',
  'session_log_corrupt',
  'session_format_unsupported',
  'schema_version_unsupported',
  'state_corrupt',
  'snapshot_ahead_of_log',
  'log_missing_for_snapshot',
  'revision_stale',
  'session_owned_elsewhere',
  'persistence_closed',
] as const;

const OWNED = [...LOADING, 'owner_epoch_stale', ...RECORDING] as const;

export const OPEN_SESSION = {
  id: 'openSession',
  tag: 'Sessions',
  summary: 'Open a durable session',
  description: 'The harness that opens it is attached to it, with owner epoch 1.',
  body: openSessionBody,
  answers: { 201: { means: 'It is open.', body: sessionRepresentation, headers: [SESSION_LOCATION] } },
  refusals: [
    ...LOADING,
    'session_exists',
    'session_id_collision',
    'dangling_reference',
    'secret_in_payload',
    'state_not_serializable',
    ...RECORDING,
  ],
} as const satisfies Operation;

export const LIST_SESSIONS = {
  id: 'listSessions',
  tag: 'Sessions',
  summary: 'List sessions, the newest first',
  description: 'A harness sees those of its own principal, operators and auditors those of the tenant.',
  query: sessionListQuery,
  answers: { 200: { means: 'A page.', body: sessionPage } },
  refusals: [],
} as const satisfies Operation;

export const GET_SESSION = {
  id: 'getSession',
  tag: 'Sessions',
  summary: 'Read a session and how far its log is on disk',
  answers: { 200: { means: 'The session.', body: sessionRepresentation } },
  refusals: ['invalid_session_id', 'session_not_found'],
} as const satisfies Operation;

export const DELETE_SESSION = {
  id: 'deleteSession',
  tag: 'Sessions',
  summary: 'Delete the log and the snapshots of a session',
  description: 'What was governed stays on record, and so does a tombstone; the id is not used again.',
  answers: { 200: { means: 'It is deleted.', body: sessionRepresentation } },
  refusals: ['invalid_session_id', 'session_not_found', 'run_has_open_work', ...RECORDING],
} as const satisfies Operation;

export const ATTACH_SESSION = {
  id: 'attachSession',
  tag: 'Sessions',
  summary: 'Take a session over and learn how to go on',
  description:
    'Begins a new owner epoch: whoever was attached can append no more. Loads the session if it is not in memory; nothing is sent, asked or decided by it.',
  body: attachSessionBody,
  answers: { 200: { means: 'The resume packet.', body: resumePacket } },
  refusals: [...OWNED, 'history_unpaired'],
} as const satisfies Operation;

export const DETACH_SESSION = {
  id: 'detachSession',
  tag: 'Sessions',
  summary: 'Leave a session, everything flushed',
  body: detachSessionBody,
  answers: { 200: { means: 'Flushed and left.', body: flushAnswer } },
  refusals: OWNED,
} as const satisfies Operation;

export const APPEND_EVENTS = {
  id: 'appendSessionEvents',
  tag: 'Sessions',
  summary: 'Append to the log of a session',
  description:
    'All of the events or none. Accepted is not durable: only `durable: true` in the answer says that they are on disk. The same batch again is answered as the first was.',
  query: appendQuery,
  body: appendEventsBody,
  answers: { 200: { means: 'Accepted, in order.', body: appendAnswer } },
  refusals: [
    ...OWNED,
    'seq_conflict',
    'write_behind_saturated',
    'event_type_unknown',
    'event_schema_invalid',
    'producer_not_allowed',
    'dangling_reference',
    'duplicate_id',
    'turn_already_open',
    'step_already_open',
    'turn_not_open',
    'step_not_open',
    'history_unpaired',
    'message_empty_contents',
    'state_not_serializable',
    'secret_in_payload',
    'run_suspended',
    'run_stopping',
    'run_already_ended',
    'run_not_resumable',
    'not_at_safe_point',
  ],
} as const satisfies Operation;

export const FLUSH_SESSION = {
  id: 'flushSession',
  tag: 'Sessions',
  summary: 'Wait until everything accepted is on disk',
  body: flushBody,
  answers: { 200: { means: 'Everything up to `durableSeq` is durable.', body: flushAnswer } },
  refusals: [...LOADING, ...RECORDING],
} as const satisfies Operation;

export const READ_SESSION_EVENTS = {
  id: 'readSessionEvents',
  tag: 'Sessions',
  summary: 'Read the log of a session, or follow it',
  description:
    'What is durable, in order of `seq`. With `Accept: text/event-stream` the events as they become durable; `Last-Event-ID` goes on after it.',
  query: sessionEventsQuery,
  headers: READ_EVENTS.headers,
  answers: {
    200: {
      means: 'A page, or a stream.',
      body: sessionEventPage,
      text: { 'text/event-stream': 'One event of server-sent events each; `id` is the `seq`.' },
    },
  },
  refusals: LOADING,
} as const satisfies Operation;

export const INSPECT_SESSION = {
  id: 'inspectSession',
  tag: 'Sessions',
  summary: 'Look at a session without touching it',
  description: 'Never writes: what the tail is, what is damaged and where, which versions wrote it.',
  query: inspectQuery,
  answers: { 200: { means: 'What was found.', body: inspectAnswer } },
  refusals: ['invalid_session_id', 'session_not_found'],
} as const satisfies Operation;

export const READ_RAW_SESSION = {
  id: 'readRawSession',
  tag: 'Sessions',
  summary: 'Read the log of a session as text',
  answers: { 200: { means: 'Header and rows.', text: { 'application/x-ndjson': 'One JSON object a line.' } } },
  refusals: [...LOADING, 'raw_artifact_unsupported'],
} as const satisfies Operation;

export const GET_STATE = {
  id: 'getSessionState',
  tag: 'Sessions',
  summary: 'Read what the log of a session adds up to',
  answers: { 200: { means: 'The state.', body: stateRepresentation } },
  refusals: LOADING,
} as const satisfies Operation;

export const SAVE_STATE = {
  id: 'saveSessionState',
  tag: 'Sessions',
  summary: 'Save a snapshot at a save point',
  description: 'Flushes, adds up the log and stores that: the state itself is never taken from a caller.',
  body: saveStateBody,
  answers: { 200: { means: 'Saved.', body: stateRepresentation } },
  refusals: [...OWNED, 'history_unpaired', 'state_save_failed', 'state_not_serializable', 'message_empty_contents'],
} as const satisfies Operation;

export const MARK_NOT_RESUMABLE = {
  id: 'markSessionNotResumable',
  tag: 'Sessions',
  summary: 'Say that the run of a session cannot go on',
  description: 'The session stays readable. Its run ends unrecorded, what it had not sent is given up.',
  body: notResumableBody,
  answers: { 200: { means: 'Marked.', body: stateRepresentation } },
  refusals: [...OWNED, 'state_save_failed'],
} as const satisfies Operation;

export const START_RUN = {
  id: 'startRun',
  tag: 'Sessions',
  summary: 'Begin a run in a session',
  description: 'One at a time. Its turns and messages are appended to the log, its tool calls name the run.',
  body: startRunBody,
  answers: {
    201: { means: 'It runs.', body: runRepresentation, headers: [RUN_LOCATION] },
    200: { means: 'It had been begun before.', body: runRepresentation, headers: [RUN_LOCATION] },
  },
  refusals: [...OWNED, 'run_already_active', 'run_not_found', 'run_not_resumable'],
} as const satisfies Operation;
