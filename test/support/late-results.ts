import { Webhook } from 'standardwebhooks';
import type { Files } from './demo-capabilities.js';
import { connector } from './demo-capabilities.js';

type Json = Readonly<Record<string, unknown>>;

/** What the proxy and the tools of a test agree on; the environment that says so to the proxy. */
export const CALLBACK_SECRET = `whsec_${Buffer.from('thirty-two bytes for signatures!').toString('base64')}`;
export const CALLBACK_ENV = {
  TOOL_CALLBACK_SECRET: CALLBACK_SECRET,
  COUNTERSIGN_CALLBACKS__SECRETS: JSON.stringify({ tool: { secret: 'env:TOOL_CALLBACK_SECRET' } }),
} as const;

export const CALLBACK: Json = {
  secret: 'tool',
  statusAt: '/type',
  happenedWhen: ['job.done'],
  failedWhen: ['job.failed'],
  pendingWhen: ['job.running'],
  effectAt: '/data',
  referenceAt: '/data/ref',
  keyAt: '/data/key',
  budget: '20s',
};

/** A job of the fake tool that it takes on with 202 and tells the end of afterwards. Nothing can be looked up. */
export function jobManifest(name: string, overrides: Json = {}): Files {
  const manifest = {
    name,
    version: '1.0.0',
    title: `Job ${name}`,
    description: `What ${name} does.`,
    risk: 'low',
    effect: 'probeable',
    inputSchema: { type: 'object', additionalProperties: false, properties: { amount: { type: 'integer' } } },
    connector: connector({ method: 'POST', path: `/${name}`, body: '{args}' }),
    idempotency: { header: 'Idempotency-Key', keyRetention: '24h' },
    pending: { status: [202], referenceAt: '/ref' },
    lateResult: 'callback',
    callback: CALLBACK,
    onAmbiguous: 'reconcile',
    timeout: '500ms',
    quiesce: '100ms',
    concurrency: 64,
    ...overrides,
  };
  return { [`${name}.yaml`]: JSON.stringify(manifest, null, 2) };
}

export interface SignedRequest {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Signs as the library of Standard Webhooks does, which is not ours. */
export function signedCallback(
  id: string,
  body: unknown,
  { secret = CALLBACK_SECRET, at = new Date() }: { readonly secret?: string; readonly at?: Date } = {},
): SignedRequest {
  const text = JSON.stringify(body);
  const signature = new Webhook(secret).sign(id, at, text);
  return {
    body: text,
    headers: {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': signature,
    },
  };
}
