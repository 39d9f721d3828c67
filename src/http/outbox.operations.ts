import { acceptedCommand } from '../client/contract/control.js';
import {
  deadLetterPage,
  deadLetterQuery,
  deadLetterReplayBody,
  sinkList,
  sinkReplayBody,
} from '../client/contract/outbox.js';
import { COMMAND_KEY } from './openapi/headers.js';
import type { Operation } from './openapi/operation.js';
import { RECORDING } from './openapi/usual-refusals.js';

export const LIST_SINKS = {
  id: 'listSinks',
  tag: 'Outbox',
  summary: 'List the sinks',
  description: 'How far each sink is, and what it refused. For operators and auditors of the installation.',
  answers: { 200: { means: 'The sinks of the settings.', body: sinkList } },
  refusals: [],
} as const satisfies Operation;

export const LIST_DEAD_LETTERS = {
  id: 'listDeadLetters',
  tag: 'Outbox',
  summary: 'List dead letters',
  description: 'Events that a sink refused so often that they were given up.',
  query: deadLetterQuery,
  answers: { 200: { means: 'Dead letters by position.', body: deadLetterPage } },
  refusals: ['sink_not_found'],
} as const satisfies Operation;

export const REPLAY_DEAD_LETTERS = {
  id: 'replayDeadLetters',
  tag: 'Outbox',
  summary: 'Deliver dead letters again',
  description: 'Under the same ids. Whoever may not is refused on record.',
  headers: [COMMAND_KEY],
  body: deadLetterReplayBody,
  answers: { 202: { means: 'The command is recorded.', body: acceptedCommand } },
  refusals: [
    'not_authorized',
    'sink_not_found',
    'dead_letter_not_found',
    'invalid_idempotency_key',
    'command_id_conflict',
    ...RECORDING,
  ],
} as const satisfies Operation;

export const REPLAY_DELIVERIES = {
  id: 'replayDeliveries',
  tag: 'Outbox',
  summary: 'Deliver a range of events again',
  description: 'In order, under the same ids, beside what is new. Whoever may not is refused on record.',
  headers: [COMMAND_KEY],
  body: sinkReplayBody,
  answers: { 202: { means: 'The command is recorded.', body: acceptedCommand } },
  refusals: [
    'not_authorized',
    'sink_not_found',
    'replay_under_way',
    'invalid_idempotency_key',
    'command_id_conflict',
    ...RECORDING,
  ],
} as const satisfies Operation;
