import { describe, expect, it } from '@jest/globals';
import { pointersWith, problemsWith, READ, SURROUNDINGS } from '../../test/contract/capabilities/manifest-examples.js';
import type { Changes } from '../../test/contract/capabilities/manifest-examples.js';

const EXTERNAL: Changes = {
  pending: { status: [202], referenceAt: '/id' },
  probe: {
    strategy: 'query_by_external_id',
    request: { path: '/v1/refunds/{externalRequestId}', query: { key: undefined } },
  },
};

describe('effect rules', () => {
  it.each<[string, Changes]>([
    ['probeable, reconciled by key', {}],
    ['probeable, handed off', { onAmbiguous: 'handoff' }],
    ['probeable, by reference', EXTERNAL],
    ['opaque, handed off', { effect: 'opaque', probe: undefined, onAmbiguous: 'handoff' }],
    ['replay by key', { effect: 'replay_by_key' }],
    [
      'idempotent without a key',
      { effect: 'idempotent', probe: undefined, idempotency: undefined, onAmbiguous: 'handoff' },
    ],
    ['low risk without a word about ambiguity', { risk: 'low', onAmbiguous: undefined }],
    ['a read', READ],
    ['a read by POST', { ...READ, connector: { request: { method: 'POST', path: '/search', body: '{args}' } } }],
    ['polled', { lateResult: 'poll', pending: { status: [202], referenceAt: '/id' } }],
    [
      'the key in the path',
      { idempotency: { header: undefined }, connector: { request: { method: 'PUT', path: '/r/{downstreamKey}' } } },
    ],
  ])('find no contradiction in: %s', (_, changes) => {
    expect(problemsWith(changes)).toEqual([]);
  });

  it.each(['high', 'critical'])('demand a word about ambiguity for risk %s', (risk) => {
    expect(pointersWith({ risk, onAmbiguous: undefined })).toEqual(['/onAmbiguous']);
    expect(pointersWith({ ...READ, risk, onAmbiguous: undefined })).toEqual(['/onAmbiguous']);
  });

  it('demand a word about ambiguity for opaque effects of every risk', () => {
    for (const risk of ['low', 'medium', 'high', 'critical']) {
      expect(pointersWith({ risk, effect: 'opaque', probe: undefined, onAmbiguous: undefined })).toEqual([
        '/onAmbiguous',
      ]);
    }
  });

  it.each<[string, string, Changes]>([
    ['reconciling with nothing to ask', '/onAmbiguous', { effect: 'opaque', probe: undefined }],
    [
      'reconciling by default with nothing to ask',
      '/onAmbiguous',
      { effect: 'idempotent', risk: 'low', probe: undefined, onAmbiguous: undefined },
    ],
    ['a probe of what cannot be known', '/probe', { effect: 'opaque', onAmbiguous: 'handoff' }],
    ['a probe of a read', '/probe', { ...READ, probe: { strategy: 'query_by_idempotency_key' } }],
    ['probeable without a probe', '/probe', { probe: undefined, onAmbiguous: 'handoff' }],
    ['an effect by GET', '/connector/request/method', { connector: { request: { method: 'GET', body: undefined } } }],
    [
      'replay without a place for the key',
      '/idempotency',
      { effect: 'replay_by_key', idempotency: { header: undefined } },
    ],
    [
      'replay without knowing how long the key lives',
      '/idempotency/keyRetention',
      { effect: 'replay_by_key', idempotency: { keyRetention: undefined }, probe: { absenceIsProof: false } },
    ],
    ['asking by a key that is not sent', '/idempotency', { idempotency: { header: undefined } }],
    ['a probe that asks by no key', '/probe/request', { probe: { request: { query: { key: 'x' } } } }],
    [
      'a probe by reference that asks by none',
      '/probe/request',
      { ...EXTERNAL, probe: { strategy: 'query_by_external_id' } },
    ],
    ['a probe by a reference nobody tells', '/pending', { ...EXTERNAL, pending: undefined }],
    ['a probe that writes', '/probe/request/method', { probe: { request: { method: 'POST' } } }],
    ['a probe that deletes', '/probe/request/method', { probe: { request: { method: 'DELETE' } } }],
    ['a probe with a body', '/probe/request/body', { probe: { request: { body: {} } } }],
    ['words without a place to read them', '/probe/happenedWhen', { probe: { statusAt: undefined, failedWhen: [] } }],
    ['a place without words', '/probe/happenedWhen', { probe: { happenedWhen: [] } }],
    ['one word with two meanings', '/probe', { probe: { failedWhen: ['succeeded'] } }],
    ['one word pending and failed', '/probe', { probe: { pendingWhen: ['failed'] } }],
    [
      'a late result by an undeclared callback',
      '/callback',
      { lateResult: 'callback', pending: { status: [202], referenceAt: '/id' } },
    ],
    ['polling about nothing', '/pending', { lateResult: 'poll' }],
    [
      'polling without a probe',
      '/probe',
      {
        effect: 'opaque',
        onAmbiguous: 'handoff',
        lateResult: 'poll',
        probe: undefined,
        pending: { status: [202], referenceAt: '/id' },
      },
    ],
    [
      'proof by absence without knowing how long the key lives',
      '/idempotency/keyRetention',
      { idempotency: { keyRetention: undefined } },
    ],
    [
      'proof by absence after the key is forgotten',
      '/idempotency/keyRetention',
      { idempotency: { keyRetention: '10m' } },
    ],
    ['proof by absence before the effect can be seen', '/probe/budget', { probe: { budget: '30s' } }],
  ])('refuse %s', (_, pointer, changes) => {
    expect(pointersWith(changes)).toContain(pointer);
  });

  it('count the time of proof exactly', () => {
    const times = { timeout: '2s', quiesce: '1s' };
    const probe = { visibilityDelay: '3s', budget: '6s' };
    expect(problemsWith({ ...times, probe, idempotency: { keyRetention: '12s' } })).toEqual([]);
    expect(problemsWith({ ...times, probe: { ...probe, budget: 5_999 } })).toEqual([
      expect.stringContaining('at least 6s'),
    ]);
    expect(pointersWith({ ...times, probe, idempotency: { keyRetention: 11_999 } })).toEqual([
      '/idempotency/keyRetention',
    ]);
  });

  it('say nothing about a key that could not be read', () => {
    expect(pointersWith({ onAmbiguous: 'perhaps' })).toEqual(['/onAmbiguous']);
    expect(pointersWith({ effect: 'maybe' })).toEqual(['/effect']);
    expect(pointersWith({ timeout: 'long' })).toEqual(['/timeout']);
  });
});

describe('rules about evidence that comes by itself', () => {
  const CALLBACK = { secret: 'tool', statusAt: '/type', happenedWhen: ['done'], keyAt: '/key' };
  const SECRETS = { ...SURROUNDINGS, callbacks: { secrets: { tool: {} } } };
  const ALONE = { probe: undefined, callback: CALLBACK };

  it.each([
    ['a callback in place of a probe', ALONE],
    ['a statement in place of a probe', { probe: undefined, statement: {} }],
    ['a statement about an opaque effect', { probe: undefined, statement: {}, effect: 'opaque' }],
    [
      'a replay in place of a probe',
      { probe: undefined, effect: 'replay_by_key', idempotency: { replayAsProbe: true } },
    ],
    ['a probe with a credential of its own', { probe: { credential: 'keyed' } }],
  ])('take %s', (_, changes) => {
    expect(pointersWith(changes, SECRETS)).toEqual([]);
  });

  it.each([
    ['a secret that the settings do not have', '/callback/secret', { callback: { ...CALLBACK, secret: 'other' } }],
    ['a body that names no call', '/callback/keyAt', { ...ALONE, callback: { ...CALLBACK, keyAt: undefined } }],
    ['a word with two meanings', '/callback', { callback: { ...CALLBACK, failedWhen: ['done'] } }],
    ['a callback about an opaque effect', '/callback', { ...ALONE, effect: 'opaque' }],
    [
      'a replay of an effect that is not replayed by key',
      '/idempotency/replayAsProbe',
      { idempotency: { replayAsProbe: true } },
    ],
    [
      'a replay beside a probe that only reads',
      '/idempotency/replayAsProbe',
      { effect: 'replay_by_key', idempotency: { replayAsProbe: true } },
    ],
    ['a credential of a probe that does not exist', '/probe/credential', { probe: { credential: 'nobody' } }],
    [
      'a header of a probe that carries its credential',
      '/probe/request/headers/x-api-key',
      {
        probe: { credential: 'keyed', request: { headers: { 'x-api-key': 'mine' } } },
      },
    ],
  ])('refuse %s', (_, pointer, changes) => {
    expect(pointersWith(changes, SECRETS)).toContain(pointer);
  });
});
