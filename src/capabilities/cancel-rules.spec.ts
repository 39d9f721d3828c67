import { describe, expect, it } from '@jest/globals';
import { capabilityWith, parsedManifest, problemsWith } from '../../test/contract/capabilities/manifest-examples.js';
import { manifestDigest } from './capability-registry.js';
import { renderRequest } from './request-rendering.js';

const CANCEL = {
  by: 'idempotency_key',
  request: { method: 'POST', path: '/v1/cancellations', body: { key: '{downstreamKey}' } },
};
const problems = (more: object, rest: object = {}) => problemsWith({ cancel: { ...CANCEL, ...more }, ...rest });

describe('a declared cancel', () => {
  it('is right when it names the call, and has defaults for the rest', () => {
    expect(problems({})).toEqual([]);
    const parsed = parsedManifest({ cancel: CANCEL });
    expect(parsed.ok && parsed.manifest.cancel).toMatchObject({
      cancelledStatus: [200, 204],
      refusedStatus: [404, 405, 409, 410, 422],
      effect: 'none',
      timeoutMs: 5_000,
    });
  });

  it.each<[string, object, object, string]>([
    ['a request that names no call', { request: { method: 'POST', path: '/v1/x', body: {} } }, {}, '/cancel/request'],
    ['a GET', { request: { method: 'GET', path: '/v1/{downstreamKey}' } }, {}, '/cancel/request/method'],
    [
      'a reference nobody tells',
      { by: 'external_id', request: { method: 'DELETE', path: '/v1/{externalRequestId}' } },
      {},
      '/cancel/by',
    ],
    [
      'a reference where our key is meant',
      { request: { method: 'DELETE', path: '/v1/{externalRequestId}' } },
      {},
      '/cancel/request',
    ],
    ['a confirmation that is none', { cancelledStatus: [404] }, {}, '/cancel/cancelledStatus/0'],
    ['a refusal that is no refusal', { refusedStatus: [503] }, {}, '/cancel/refusedStatus/0'],
    ['words without their place', { cancelledWhen: ['void'] }, {}, '/cancel/statusAt'],
    ['a place without words', { statusAt: '/state' }, {}, '/cancel/cancelledWhen'],
    ['one word for both', { statusAt: '/s', cancelledWhen: ['x'], refusedWhen: ['x'] }, {}, '/cancel/cancelledWhen/0'],
    [
      'a key the tool never gets',
      {},
      {
        idempotency: { header: undefined, keyRetention: undefined },
        probe: undefined,
        effect: 'opaque',
        onAmbiguous: 'handoff',
      },
      '/cancel/by',
    ],
  ])('is refused with %s', (_, more, rest, pointer) => {
    expect(
      problems(more, rest).filter((problem) => problem.startsWith(`${pointer}:`) || problem.startsWith(`${pointer}/`)),
    ).not.toEqual([]);
  });

  it('is rendered without the places that carry the key of the effect', () => {
    const capability = capabilityWith({ cancel: CANCEL });
    const { cancel } = capability.manifest;
    if (cancel === null) throw new Error('no cancel');
    const rendered = renderRequest(capability, cancel.request, {
      args: {},
      downstreamKey: 'k-1',
      externalRequestId: null,
    });
    expect(Object.keys(rendered.headers)).not.toContain('idempotency-key');
    expect(Buffer.from(rendered.body ?? []).toString()).toBe('{"key":"k-1"}');
  });

  it('is part of the definition where it is used, and leaves every other definition as it was', () => {
    const [without, withIt] = [capabilityWith(), capabilityWith({ cancel: CANCEL })].map(({ manifest }) => manifest);
    if (without === undefined || withIt === undefined) throw new Error('no manifest');
    expect(manifestDigest(withIt)).not.toBe(manifestDigest(without));
    const { cancel: _, compensation: __, ...before } = without;
    expect(manifestDigest(without)).toBe(manifestDigest({ ...before, cancel: null, compensation: null }));
    expect(JSON.stringify(Object.keys(before))).not.toContain('cancel');
  });
});
