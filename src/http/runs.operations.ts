import { runRepresentation } from '../client/contract/runs.js';
import type { Operation } from './openapi/operation.js';

export const GET_RUN = {
  id: 'getRun',
  tag: 'Runs',
  summary: 'Read a run',
  description: 'A harness reads the runs of its own principal.',
  answers: { 200: { means: 'The run.', body: runRepresentation } },
  refusals: ['run_not_found'],
} as const satisfies Operation;
