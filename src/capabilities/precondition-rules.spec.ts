import { describe, expect, it } from '@jest/globals';
import { capabilityWith, pointersWith, problemsWith } from '../../test/contract/capabilities/manifest-examples.js';
import { preconditionWith } from '../../test/builders/precondition-examples.js';
import { manifestDigest } from './capability-registry.js';
import { renderRequest, renderTarget } from './request-rendering.js';

const problems = (...preconditions: readonly object[]) => problemsWith({ preconditions });
const pointers = (more: object, rest: object = {}) =>
  pointersWith({ preconditions: [preconditionWith(more as Record<string, unknown>)], ...rest });
const rulesOf = (more: object) =>
  capabilityWith({ preconditions: [preconditionWith(more as Record<string, unknown>)] }).manifest.preconditions?.[0];

describe('a declared precondition', () => {
  it('is right with a name, a title, a GET and a place in its answer, and must then not change', () => {
    expect(problems(preconditionWith())).toEqual([]);
    expect(rulesOf({})).toMatchObject({
      expect: null,
      unchanged: true,
      absent: 'fails',
      credential: null,
      timeoutMs: 5_000,
    });
  });

  it('that says what to expect may change as long as that holds, unless it says otherwise', () => {
    expect(rulesOf({ expect: { equals: null } })).toMatchObject({ unchanged: false, expect: { equals: null } });
    expect(rulesOf({ expect: { equals: 'open' }, unchanged: true })).toMatchObject({ unchanged: true });
  });

  it.each([
    ['a constant', { equals: 'open' }],
    ['null', { equals: null }],
    ['a list', { oneOf: ['open', 1, true, null, { argument: '/currency' }] }],
    ['a range', { atLeast: 0.5, atMost: { argument: '/amountMinor' } }],
  ])('may expect %s', (_, expectation) => {
    expect(pointers({ expect: expectation })).toEqual([]);
  });

  it.each<[string, object, string]>([
    ['a request that may change something', { request: { method: 'POST', path: '/v1/x' } }, '/request/method'],
    ['a request with a body', { request: { method: 'GET', path: '/v1/x', body: {} } }, '/request/body'],
    ['an argument in a header', headers('{args.orderId}'), '/request/headers/x-order'],
    ['our key, which no reading knows', headers('{downstreamKey}'), '/request'],
    ['a reference nobody told', { request: { method: 'GET', path: '/v1/{externalRequestId}' } }, '/request/path'],
    ['an argument there is none of', { request: { method: 'GET', path: '/v1/{args.order}' } }, '/request/path'],
    ['an argument that may be absent', { request: { method: 'GET', path: '/v1/{args.note}' } }, '/request/path'],
    ['a place that is no pointer', { at: 'status' }, '/at'],
    ['a name that is no word', { name: 'Order status' }, '/name'],
    ['a title that hides text', { title: 'open\u202e' }, '/title'],
    ['a time that is too long', { timeout: '11s' }, '/timeout'],
    ['a credential nobody has', { credential: 'nobody' }, '/credential'],
    ['another absence', { absent: 'holds' }, '/absent'],
    ['nothing to demand', { unchanged: false }, ''],
    ['an empty expectation', { expect: {} }, '/expect'],
    ['more than one equality', { expect: { equals: 1, atLeast: 0 } }, '/expect'],
    ['a range without numbers', { expect: { atLeast: 2, atMost: 1 } }, '/expect'],
    ['a text as a bound', { expect: { atLeast: '1' } }, '/expect/atLeast'],
    [
      'a bound that is an argument without a number',
      { expect: { atMost: { argument: '/orderId' } } },
      '/expect/atMost',
    ],
    ['an argument that is not declared', { expect: { equals: { argument: '/status' } } }, '/expect/equals'],
    ['an argument that may be absent to compare with', { expect: { equals: { argument: '/note' } } }, '/expect/equals'],
    ['a list as an argument to compare with', { expect: { oneOf: [{ argument: '/tags' }] } }, '/expect/oneOf/0'],
    ['a list as a constant', { expect: { equals: ['open'] } }, '/expect/equals'],
    ['a key it does not know', { retries: 3 }, '/retries'],
  ])('is refused with %s', (_, more, pointer) => {
    expect(pointers(more)).toContain(`/preconditions/0${pointer}`);
  });

  it('is refused with every problem at once', () => {
    const found = pointersWith({
      preconditions: [
        preconditionWith({ expect: { atLeast: 'x' }, credential: 'nobody' }),
        preconditionWith({ request: { method: 'DELETE', path: 'v1' } }),
      ],
    });
    expect(found).toEqual(
      expect.arrayContaining([
        '/preconditions/0/credential',
        '/preconditions/0/expect/atLeast',
        '/preconditions/1/name',
        '/preconditions/1/request/method',
        '/preconditions/1/request/path',
      ]),
    );
  });

  it('is refused where its credential would meet a header of the same name', () => {
    const request = { method: 'GET', path: '/v1/x', headers: { 'X-Api-Key': 'mine' } };
    expect(pointers({ credential: 'keyed', request })).toContain('/preconditions/0/request/headers/X-Api-Key');
    expect(pointers({ credential: 'keyed' })).toEqual([]);
  });

  it('is one of eight at most', () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => preconditionWith({ name: `p${i}` }));
    expect(problems(...many(8))).toEqual([]);
    expect(problems(...many(9))).not.toEqual([]);
    expect(problemsWith({ preconditions: [] })).not.toEqual([]);
  });

  it('stands beside no replay, before which nothing is read', () => {
    const replay = {
      effect: 'replay_by_key',
      probe: undefined,
      idempotency: { replayAsProbe: true },
    };
    expect(pointersWith(replay)).toEqual([]);
    expect(pointers({}, replay)).toContain('/preconditions');
  });

  it('is part of the definition, and a manifest without any has the digest it had', () => {
    const plain = manifestDigest(capabilityWith().manifest);
    const resting = manifestDigest(capabilityWith({ preconditions: [preconditionWith()] }).manifest);
    const other = manifestDigest(
      capabilityWith({ preconditions: [preconditionWith({ absent: 'is_a_value' })] }).manifest,
    );
    expect(new Set([plain, resting, other]).size).toBe(3);
    expect(capabilityWith().manifest).not.toHaveProperty('preconditions');
    expect(manifestDigest(capabilityWith({ preconditions: null }).manifest)).toBe(plain);
  });
});

function headers(value: string): object {
  return { request: { method: 'GET', path: '/v1/x', headers: { 'x-order': value } } };
}

describe('the request of a precondition', () => {
  const args = { orderId: 'o-1', amountMinor: 1, currency: 'EUR' };

  it('goes below the base URL and never carries our key', () => {
    const capability = capabilityWith({ preconditions: [preconditionWith()] });
    const request = capability.manifest.preconditions?.[0]?.request;
    if (request === undefined) throw new Error('no precondition');
    const variables = { args, downstreamKey: 'k'.repeat(27), externalRequestId: null };
    const rendered = renderRequest(capability, request, variables);
    expect(rendered).toEqual({
      method: 'GET',
      url: 'https://payments.example.com/api/v1/orders/o-1',
      headers: { accept: 'application/json' },
      body: null,
    });
    expect(renderRequest(capability, capability.manifest.connector.request, variables).headers).toMatchObject({
      'idempotency-key': 'k'.repeat(27),
    });
  });

  it('that arguments would lead astray refuses them before anything is recorded', () => {
    const capability = capabilityWith({ preconditions: [preconditionWith()] });
    expect(() => renderTarget(capability, { ...args, orderId: '../admin' })).toThrow('dot segments');
    expect(() => renderTarget(capabilityWith(), { ...args, orderId: '../admin' })).not.toThrow();
  });
});
