import { capabilityList } from '../client/contract/capabilities.js';
import type { Operation } from './openapi/operation.js';

export const LIST_CAPABILITIES = {
  id: 'listCapabilities',
  tag: 'Capabilities',
  summary: 'List the capabilities in force',
  answers: { 200: { means: 'All of them.', body: capabilityList } },
  refusals: [],
} as const satisfies Operation;
