import type { Files } from './demo-capabilities.js';

/** The refund of the example with clocks of tenths of a second, so that tests see a whole reconciliation. Nobody is asked. */
export function refundManifest(name: string): Files {
  const text = { type: 'string', maxLength: 500 };
  const manifest = {
    name,
    version: '1.0.0',
    title: 'Refund quickly',
    description: 'Pays back, with short clocks.',
    risk: 'medium',
    effect: 'probeable',
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      required: ['orderId', 'amountMinor'],
      properties: {
        orderId: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' },
        amountMinor: { type: 'integer', minimum: 1 },
        currency: { type: 'string', default: 'EUR' },
        note: text,
        cardToken: text,
      },
    },
    outputSchema: {
      type: 'object',
      required: ['refundId', 'status'],
      properties: { refundId: { type: 'string', minLength: 1 }, status: { enum: ['pending', 'succeeded', 'failed'] } },
    },
    connector: {
      kind: 'http',
      baseUrl: 'upstream:payments',
      allowAddresses: ['loopback'],
      credential: 'payments',
      request: { method: 'POST', path: '/v1/refunds', body: '{args}' },
    },
    idempotency: { header: 'Idempotency-Key', keyRetention: '24h' },
    probe: {
      strategy: 'query_by_idempotency_key',
      request: { method: 'GET', path: '/v1/refunds', query: { idempotencyKey: '{downstreamKey}' } },
      foundAt: '/data',
      statusAt: '/status',
      happenedWhen: ['succeeded'],
      failedWhen: ['failed'],
      pendingWhen: ['pending'],
      referenceAt: '/refundId',
      visibilityDelay: '600ms',
      absenceIsProof: true,
      budget: '1m',
    },
    timeout: '500ms',
    quiesce: '100ms',
    onAmbiguous: 'reconcile',
    redact: ['/cardToken'],
  };
  return { [`${name}.yaml`]: JSON.stringify(manifest, null, 2) };
}
