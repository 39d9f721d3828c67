import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startProvider } from '../../../examples/refunds/stack.mjs';
import type { Running } from '../../../examples/refunds/stack.mjs';
import { effectiveArguments, outputProblem } from '../../../src/capabilities/argument-schema.js';
import { loadCapabilities } from '../../../src/capabilities/capability-registry.js';
import type { CapabilityRegistry } from '../../../src/capabilities/capability-registry.js';
import type { Capability } from '../../../src/capabilities/manifest.js';
import { redactArguments } from '../../../src/capabilities/redaction.js';
import { renderRequest, renderTarget } from '../../../src/capabilities/request-rendering.js';
import type { RenderedRequest } from '../../../src/capabilities/request-rendering.js';
import { downstreamKeyFor } from '../../../src/domain/digests/digests.js';
import type { JsonObject, JsonValue } from '../../../src/domain/json/json-value.js';
import { valueAt } from '../../../src/domain/json/json-pointer.js';

const EXAMPLE = fileURLToPath(new URL('../../../examples/refunds/capabilities/', import.meta.url));
const API_KEY = 'contract-key';

let dir: string;
let provider: Running;
let registry: CapabilityRegistry;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'refund-example-'));
  provider = await startProvider({ db: join(dir, 'provider.sqlite'), apiKey: API_KEY });
  registry = await loadCapabilities(EXAMPLE, {
    upstreams: { payments: provider.url },
    credentials: { payments: { header: 'authorization' } },
  });
});

afterAll(async () => {
  await provider.kill('SIGTERM');
  await rm(dir, { recursive: true });
});

function capabilityNamed(name: string): Capability {
  const capability = registry.get(name);
  if (capability === undefined) throw new Error(`${name} is not in force`);
  return capability;
}

function effective(capability: Capability, value: JsonObject): JsonObject {
  const checked = effectiveArguments(capability, value);
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  return checked.arguments;
}

async function send({ method, url, headers, body }: RenderedRequest): Promise<{ status: number; value: JsonValue }> {
  const response = await fetch(url, {
    method,
    headers: { ...headers, authorization: `Bearer ${API_KEY}` },
    ...(body === null ? {} : { body: Buffer.from(body) }),
  });
  return { status: response.status, value: (await response.json()) as JsonValue };
}

async function control(method: string, path: string, body?: JsonObject): Promise<JsonValue> {
  const response = await fetch(`${provider.url}/_control/${path}`, {
    method,
    ...(body && { body: JSON.stringify(body) }),
  });
  return (await response.json()) as JsonValue;
}

describe('the manifests of the refund example', () => {
  it('are in force with what the example promises', () => {
    expect(registry.list().map(({ id }) => id)).toEqual(['order.read@1.0.0', 'refund.create@1.0.0']);
    expect(capabilityNamed('refund.create').manifest).toMatchObject({
      risk: 'high',
      effect: 'probeable',
      onAmbiguous: 'reconcile',
      timeoutMs: 2_000,
      quiesceMs: 500,
      idempotency: { header: 'Idempotency-Key', keyRetentionMs: 86_400_000, callerKeyTemplate: null },
      probe: { absenceIsProof: true, visibilityDelayMs: 1_000 },
      redact: ['/cardToken'],
    });
    expect(capabilityNamed('order.read').manifest).toMatchObject({ risk: 'low', effect: 'read_only', probe: null });
  });

  it('fill in the currency and hide the card', () => {
    const capability = capabilityNamed('refund.create');
    const args = effective(capability, { orderId: 'ord_1001', amountMinor: 100, cardToken: 'tok_SECRET' });
    expect(args).toMatchObject({ currency: 'EUR' });
    expect(JSON.stringify(redactArguments(capability.manifest, args))).not.toContain('tok_SECRET');
    expect(renderTarget(capability, args)).toEqual({
      connector: 'http',
      method: 'POST',
      url: `${provider.url}/v1/refunds`,
    });
  });

  it('make one refund of one key, however often the same bytes are sent, and find it by that key', async () => {
    const capability = capabilityNamed('refund.create');
    const args = effective(capability, {
      orderId: 'ord_1002',
      amountMinor: 150,
      reason: 'damaged',
      customerNote: 'Sorry!',
      cardToken: 'tok_1',
    });
    const downstreamKey = downstreamKeyFor('call_contract_1', capability.manifest.idempotency.keyLengthMax);
    const variables = { args, downstreamKey, externalRequestId: null };
    const { probe, connector } = capability.manifest;
    if (probe === null) throw new Error('no probe');

    const before = await send(renderRequest(capability, probe.request, variables));
    expect(valueAt(before.value, probe.foundAt)).toEqual([]);

    const first = await send(renderRequest(capability, connector.request, variables));
    const second = await send(renderRequest(capability, connector.request, variables));
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.value).toEqual(first.value);
    expect(outputProblem(capability, first.value)).toBeNull();
    expect(await control('GET', `stats?keyPrefix=${downstreamKey}`)).toMatchObject({ executions: 1 });

    const after = await send(renderRequest(capability, probe.request, variables));
    const found = valueAt(after.value, `${probe.foundAt}/0`) as JsonObject;
    expect(probe.happenedWhen).toContain(valueAt(found, probe.statusAt ?? ''));
    expect(valueAt(found, probe.referenceAt ?? '')).toBe((first.value as JsonObject)['refundId']);
    expect(found).toMatchObject({ orderId: 'ord_1002', amountMinor: 150, currency: 'EUR', reason: 'damaged' });
  });

  it('know where a pending answer says its reference, and what pending looks like to the probe', async () => {
    const capability = capabilityNamed('refund.create');
    const { pending, probe, connector } = capability.manifest;
    if (pending === null || probe === null) throw new Error('no pending answer');
    await control('POST', 'faults', { orderId: 'ord_1003', accept202: true, completeAs: 'never', times: 1 });
    const variables = {
      args: effective(capability, { orderId: 'ord_1003', amountMinor: 1 }),
      downstreamKey: downstreamKeyFor('call_contract_2'),
      externalRequestId: null,
    };
    const answer = await send(renderRequest(capability, connector.request, variables));
    expect(pending.status).toContain(answer.status);
    expect(valueAt(answer.value, pending.referenceAt)).toEqual(expect.any(String));
    const found = await send(renderRequest(capability, probe.request, variables));
    expect(probe.pendingWhen).toContain(valueAt(found.value, `${probe.foundAt}/0${probe.statusAt}`));
  });

  it('take refusals of the provider for definitive', async () => {
    const capability = capabilityNamed('refund.create');
    const { connector, definitiveStatus } = capability.manifest;
    for (const [orderId, amountMinor] of [
      ['ord_none', 1],
      ['ord_1001', 9_999_999],
    ] as const) {
      const args = effective(capability, { orderId, amountMinor });
      const variables = { args, downstreamKey: downstreamKeyFor(`call_${orderId}`), externalRequestId: null };
      expect(definitiveStatus).toContain((await send(renderRequest(capability, connector.request, variables))).status);
    }
  });

  it('read an order', async () => {
    const capability = capabilityNamed('order.read');
    const args = effective(capability, { orderId: 'ord_1004' });
    const variables = { args, downstreamKey: downstreamKeyFor('call_contract_3'), externalRequestId: null };
    const request = renderRequest(capability, capability.manifest.connector.request, variables);
    expect(request).toMatchObject({ method: 'GET', url: `${provider.url}/v1/orders/ord_1004`, body: null });
    const { status, value } = await send(request);
    expect(status).toBe(200);
    expect(value).toMatchObject({ orderId: 'ord_1004', amountMinor: 89_900 });
    expect(outputProblem(capability, value)).toBeNull();
  });
});
