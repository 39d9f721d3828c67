import { define } from './event-definition.js';

/** Evidence from outside that no call is known for yet. Part of the catalogue. */
export const EVIDENCE_EVENTS = {
  'evidence.received': define('evidence', 1, ['capability-runtime'], {
    callbackId: 'text',
    source: 'text',
    capability: 'text',
    meaning: 'text',
    externalRequestId: 'text?',
    downstreamKey: 'text?',
    evidence: 'object',
  }),
  'evidence.expired': define('evidence', 1, ['recovery'], { reason: ['no_call_known'], receivedAt: 'text' }),
} as const;
