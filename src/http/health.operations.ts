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
  description: 'With a valid token it also says what its reasons are about.',
  token: 'optional',
  answers: {
    200: { means: 'It does, and what an operator should look at.', body: readiness },
    503: { means: 'It can do nothing for anybody, and why.', body: readiness },
  },
  refusals: [],
} as const satisfies Operation;

export const GET_METRICS = {
  id: 'getMetrics',
  tag: 'Installation',
  summary: 'The numbers of the installation',
  description:
    'For an operator of the tenant that runs the installation, unless the setting `metrics.access` asks for no token.',
  answers: { 200: { means: 'The text format of Prometheus.', text: { 'text/plain': 'The metrics.' } } },
  refusals: [],
} as const satisfies Operation;
