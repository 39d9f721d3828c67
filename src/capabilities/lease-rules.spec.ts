import { describe, expect, it } from '@jest/globals';
import { capabilityWith, problemsWith } from '../../test/contract/capabilities/manifest-examples.js';
import { manifestDigest } from './capability-registry.js';

const EXECUTION = {
  environmentId: 'prod-payments',
  sandboxTrustLevel: 'high',
  networkPolicy: { allowHosts: ['payments.example.com'] },
  dataAccessPolicy: { access: 'write', resources: ['ledger'] },
};
const LEASE = { scopes: ['refund:create'] };
const RIGHT = { lease: LEASE, execution: EXECUTION, connector: { credential: 'payments' } };
const TOKEN = { lease: { ...LEASE, mode: 'token', audience: 'https://tool.example' }, execution: EXECUTION };

describe('the keys lease and execution', () => {
  it('are what a lease and its record need, and are left out of a digest that they are not in', () => {
    const { manifest } = capabilityWith(RIGHT);
    expect(manifest.lease).toEqual({
      mode: 'inject',
      scopes: ['refund:create'],
      audience: null,
      ttlMs: 60_000,
      ttlMsMax: 300_000,
      maxUses: 1,
      renewableForMs: null,
      header: null,
    });
    expect(manifest.execution).toEqual(EXECUTION);
    const without = capabilityWith().manifest;
    expect(Object.keys(without)).not.toEqual(expect.arrayContaining(['lease']));
    expect(manifestDigest(without)).not.toBe(manifestDigest(manifest));
  });

  it('are right for a token, too', () => {
    expect(problemsWith(TOKEN)).toEqual([]);
  });

  it.each([
    ['no execution', { lease: LEASE, connector: { credential: 'payments' } }, '/execution: is missing'],
    ['a ttl under a minute', { ...RIGHT, lease: { ...LEASE, ttl: '59s' } }, '/lease/ttl'],
    ['a ttl over five minutes', { ...RIGHT, lease: { ...LEASE, ttl: '301s' } }, '/lease/ttl'],
    ['a ttl beyond maxTtl', { ...RIGHT, lease: { ...LEASE, ttl: '2m', maxTtl: '1m' } }, '/lease/ttl: is longer'],
    ['a scope twice', { ...RIGHT, lease: { scopes: ['a', 'a'] } }, '/lease/scopes/1: is listed twice'],
    ['the scope of look-ups', { ...RIGHT, lease: { scopes: ['query'] } }, '/lease/scopes/0: is the scope of look-ups'],
    ['no scope', { ...RIGHT, lease: { scopes: [] } }, '/lease/scopes'],
    ['inject without a credential', { lease: LEASE, execution: EXECUTION }, '/connector/credential: is missing'],
    ['several uses by the proxy', { ...RIGHT, lease: { ...LEASE, maxUses: 2 } }, '/lease/maxUses'],
    ['a header without a token', { ...RIGHT, lease: { ...LEASE, header: 'x-token' } }, '/lease/header'],
    ['renewals of what the proxy uses', { ...RIGHT, lease: { ...LEASE, renewableFor: '10m' } }, '/lease/renewableFor'],
    ['a token without an audience', { ...TOKEN, lease: { ...LEASE, mode: 'token' } }, '/lease/audience: is missing'],
    [
      'a token beside a credential',
      { ...TOKEN, connector: { credential: 'payments' } },
      '/connector/credential: the token',
    ],
    [
      'a header that carries the token',
      {
        ...TOKEN,
        lease: { ...TOKEN.lease, header: 'x-token' },
        connector: { request: { headers: { 'X-Token': 'a' } } },
      },
      '/connector/request/headers/X-Token',
    ],
    [
      'a low trust that would see a credential',
      { ...RIGHT, execution: { ...EXECUTION, sandboxTrustLevel: 'low' } },
      '/lease/mode: an environment of low trust',
    ],
    [
      'a host outside of the network policy [K-39]',
      { ...RIGHT, execution: { ...EXECUTION, networkPolicy: { allowHosts: ['elsewhere.example'] } } },
      '/execution/networkPolicy/allowHosts',
    ],
    [
      'an effect under a policy that only reads',
      { ...RIGHT, execution: { ...EXECUTION, dataAccessPolicy: { access: 'read' } } },
      '/execution/dataAccessPolicy/access',
    ],
    ['an unknown key', { ...RIGHT, lease: { ...LEASE, secret: 'x' } }, '/lease/secret: is not a key'],
  ])('refuse %s', (_, changes, problem) => {
    expect(problemsWith(changes)).toEqual([expect.stringContaining(problem)]);
  });

  it('refuse to ask about an effect by sending it again, and to cancel with a token', () => {
    const replay = { ...RIGHT, effect: 'replay_by_key', probe: undefined, idempotency: { replayAsProbe: true } };
    expect(problemsWith(replay)).toContainEqual(
      expect.stringContaining('/idempotency/replayAsProbe: a lease is burnt'),
    );
    const cancel = {
      by: 'idempotency_key',
      request: { method: 'POST', path: '/cancel', body: { key: '{downstreamKey}' } },
    };
    expect(problemsWith({ ...TOKEN, cancel })).toContainEqual(expect.stringContaining('/cancel: has no credential'));
  });
});
