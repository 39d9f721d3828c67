import { runRepresentation } from '../client/contract/runs.js';
import type { Operation } from './openapi/operation.js';
import { RECORDING } from './openapi/usual-refusals.js';

export const GET_RUN = {
  id: 'getRun',
  tag: 'Runs',
  summary: 'Read a run',
  description: 'A harness reads the runs of its own principal.',
  answers: { 200: { means: 'The run.', body: runRepresentation } },
  refusals: ['run_not_found'],
} as const satisfies Operation;

export const REPORT_MODEL_CANCELLED = {
  id: 'reportModelCancelled',
  tag: 'Runs',
  summary: 'Report that the model generates no more',
  description:
    'A report of the harness about a run that is being stopped, not a wish. Reporting it again, or of a model that was not active, records nothing.',
  answers: { 200: { means: 'The run.', body: runRepresentation } },
  refusals: ['run_not_found', 'run_already_ended', 'run_suspended', 'not_at_safe_point', ...RECORDING],
} as const satisfies Operation;
