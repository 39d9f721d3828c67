import { liveness, readiness } from '../client/contract/health.js';
import type { Operation } from './openapi/operation.js';

export const GET_LIVENESS = {
  id: 'getLiveness',
  tag: 'Installation',
  summary: 'Whether the process lives',
  answers: { 200: { means: 'It does.', body: liveness } },
  refusals: [],
} as const satisfies Operation;

export const GET_READINESS = {
  id: 'getReadiness',
  tag: 'Installation',
  summary: 'Whether the process serves',
  answers: {
    200: { means: 'It does.', body: readiness },
    503: { means: 'It does not, and why.', body: readiness },
  },
  refusals: [],
} as const satisfies Operation;
