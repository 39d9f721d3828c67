import { z } from 'zod';
import {
  artifactBody,
  artifactRepresentation,
  completeRunBody,
  failRunBody,
  openRunBody,
  reasoningBody,
  reasoningRepresentation,
  runPageRepresentation,
  subagentBody,
  subagentEndBody,
  subagentEndRepresentation,
  subagentRepresentation,
  timelineQuery,
  timelineRepresentation,
  turnBody,
  turnRepresentation,
} from '../client/contract/run-chain.js';
import { runRepresentation } from '../client/contract/runs.js';
import type { AnswerHeader } from './openapi/headers.js';
import type { Operation } from './openapi/operation.js';
import { RECORDING } from './openapi/usual-refusals.js';

const RUN_LOCATION = {
  name: 'Location',
  means: 'Where the run can be read.',
  always: true,
  schema: z.string().regex(/^\/v1\/runs\//),
} as const satisfies AnswerHeader;

/** New, or the same client id again. */
const recorded = <B extends z.ZodType>(body: B) => ({
  201: { means: 'It is recorded.', body },
  200: { means: 'It had been recorded before.', body },
});

const STATED = ['run_not_found', 'run_already_ended', 'duplicate_id', ...RECORDING] as const;
const WORKING = ['run_stopping', 'run_suspended', ...STATED] as const;

export const OPEN_RUN = {
  id: 'openRun',
  tag: 'Runs',
  summary: 'Open the run of a label',
  description:
    'So that a harness can say why before it proposes what. One run per label is open; a first proposal with the `Run-Id` header opens it as well.',
  body: openRunBody,
  answers: {
    201: { means: 'The run is open.', body: runRepresentation, headers: [RUN_LOCATION] },
    200: { means: 'A run of this label was open.', body: runRepresentation, headers: [RUN_LOCATION] },
  },
  refusals: ['run_not_found', ...RECORDING],
} as const satisfies Operation;

export const OPEN_TURN = {
  id: 'openTurn',
  tag: 'Runs',
  summary: 'Name a turn of a run',
  body: turnBody,
  answers: recorded(turnRepresentation),
  refusals: WORKING,
} as const satisfies Operation;

export const RECORD_REASONING = {
  id: 'recordReasoning',
  tag: 'Runs',
  summary: 'Record a judgement',
  description:
    'Why something is going to be proposed. A proposal that names it is caused by it; a policy can demand one.',
  body: reasoningBody,
  answers: recorded(reasoningRepresentation),
  refusals: ['turn_not_found', ...WORKING],
} as const satisfies Operation;

export const RECORD_ARTIFACT = {
  id: 'recordArtifact',
  tag: 'Runs',
  summary: 'Record an artefact',
  description:
    'A reference with its digest, joined to the goal, the judgement and the call that it came of. Never bytes.',
  body: artifactBody,
  answers: recorded(artifactRepresentation),
  refusals: ['dangling_reference', ...STATED],
} as const satisfies Operation;

export const SPAWN_SUBAGENT = {
  id: 'recordSubagent',
  tag: 'Runs',
  summary: 'Record a sub-agent',
  body: subagentBody,
  answers: recorded(subagentRepresentation),
  refusals: ['dangling_reference', ...WORKING],
} as const satisfies Operation;

export const END_SUBAGENT = {
  id: 'endSubagent',
  tag: 'Runs',
  summary: 'Record how a sub-agent ended',
  description: 'Also after its run has ended: it is recorded then, and nothing of the run changes.',
  body: subagentEndBody,
  answers: { 200: { means: 'It is recorded.', body: subagentEndRepresentation } },
  refusals: ['run_not_found', 'duplicate_id', ...RECORDING],
} as const satisfies Operation;

const ENDING = [
  'run_not_found',
  'run_already_ended',
  'run_stopping',
  'run_suspended',
  'not_at_safe_point',
  ...RECORDING,
] as const;

export const COMPLETE_RUN = {
  id: 'completeRun',
  tag: 'Runs',
  summary: 'Say that a run is complete',
  description: 'Every call has ended, or is handed over to reconciliation or to a late answer of its tool.',
  body: completeRunBody,
  answers: { 200: { means: 'The run is complete.', body: runRepresentation } },
  refusals: ['run_has_open_work', ...ENDING],
} as const satisfies Operation;

export const FAIL_RUN = {
  id: 'failRun',
  tag: 'Runs',
  summary: 'Say that a run has failed',
  description: 'What has not been sent is given up, with its questions to people. What is on the wire goes on.',
  body: failRunBody,
  answers: { 200: { means: 'The run has failed.', body: runRepresentation } },
  refusals: ENDING,
} as const satisfies Operation;

export const GET_RUN_VIEW = {
  id: 'getRunView',
  tag: 'Runs',
  summary: 'Read what a page about a run shows',
  description:
    'Derived from what is on record, never a source. `canStop` and `canResume` are what control would admit.',
  answers: { 200: { means: 'The view.', body: runPageRepresentation } },
  refusals: ['run_not_found'],
} as const satisfies Operation;

export const GET_TIMELINE = {
  id: 'getTimeline',
  tag: 'Runs',
  summary: 'Read why and what of a run, joined',
  description:
    'Goal, reasoning, proposal, policy, approval, attempt, result and feedback in the order in which they became true. With `toolCallId` the story of one call, and what it lacks.',
  query: timelineQuery,
  answers: { 200: { means: 'A page of the timeline.', body: timelineRepresentation } },
  refusals: ['run_not_found', 'tool_call_not_found'],
} as const satisfies Operation;
