import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { capabilityWith, READ } from '../../test/contract/capabilities/manifest-examples.js';
import type { Changes } from '../../test/contract/capabilities/manifest-examples.js';
import { canonicalJson } from '../domain/json/canonical-json.js';
import type { JsonObject } from '../domain/json/json-value.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import type { Capability } from './manifest.js';
import { renderCallerKey, renderRequest, renderTarget } from './request-rendering.js';
import type { RenderedRequest } from './request-rendering.js';

const ARGS = { orderId: 'ord_1', amountMinor: 1250, currency: 'EUR' };
const KEY = 'cs_k1';

function render(
  capability: Capability,
  args: JsonObject = ARGS,
  externalRequestId: string | null = null,
): RenderedRequest {
  return renderRequest(capability, capability.manifest.connector.request, {
    args,
    downstreamKey: KEY,
    externalRequestId,
  });
}

function probeOf(
  capability: Capability,
  args: JsonObject = ARGS,
  externalRequestId: string | null = null,
): RenderedRequest {
  const { probe } = capability.manifest;
  if (probe === null) throw new Error('no probe');
  return renderRequest(capability, probe.request, { args, downstreamKey: KEY, externalRequestId });
}

function bodyOf({ body }: RenderedRequest): unknown {
  return body === null ? null : JSON.parse(new TextDecoder().decode(body));
}

function reading(path: string, more: Changes = {}, properties: Changes = {}): Capability {
  return capabilityWith({
    ...READ,
    inputSchema: { properties },
    connector: { request: { method: 'GET', path, body: undefined, ...more } },
  });
}

function refusalOf(run: () => unknown): CountersignError {
  try {
    run();
  } catch (error) {
    if (error instanceof CountersignError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

/** The URL, or null where the arguments are refused; anything else that is thrown is a defect. */
function urlOrRefusal(capability: Capability, args: JsonObject): string | null {
  try {
    return render(capability, args).url;
  } catch (error) {
    if (error instanceof CountersignError && error.code === 'invalid_arguments') return null;
    throw error;
  }
}

describe('a rendered request', () => {
  it('goes to the URL of the manifest with our key and a canonical body', () => {
    const request = render(capabilityWith());
    expect({ ...request, body: new TextDecoder().decode(request.body ?? undefined) }).toEqual({
      method: 'POST',
      url: 'https://payments.example.com/api/v1/refunds',
      headers: { accept: 'application/json', 'content-type': 'application/json', 'idempotency-key': 'cs_k1' },
      body: '{"amountMinor":1250,"currency":"EUR","orderId":"ord_1"}',
    });
  });

  it('has the same bytes for every attempt, whatever the order of the keys', () => {
    const capability = capabilityWith({
      connector: { request: { body: { z: '{args.customer}', a: ['{args.orderId}', { k: '{args.amountMinor}' }] } } },
      inputSchema: { required: ['orderId', 'amountMinor'] },
    });
    const customer = { id: 'c', tier: 'gold', email: 'x' };
    const reordered = { email: 'x', tier: 'gold', id: 'c' };
    expect(render(capability, { ...ARGS, customer }).body).toEqual(
      render(capability, { customer: reordered, currency: 'EUR', amountMinor: 1250, orderId: 'ord_1' }).body,
    );
  });

  it('puts values into the body as what they are, and as text inside a text', () => {
    const body = {
      amount: { value: '{args.amountMinor}', unit: '{args.currency}' },
      memo: 'order {args.orderId}: {args.amountMinor} of {args.currency} {{exactly}}',
      ref: '{downstreamKey}',
      tags: '{args.tags}',
      fixed: [1, true, null, 'x'],
    };
    expect(bodyOf(render(capabilityWith({ connector: { request: { body } } }), { ...ARGS, tags: ['a', 'b'] }))).toEqual(
      {
        amount: { value: 1250, unit: 'EUR' },
        memo: 'order ord_1: 1250 of EUR {exactly}',
        ref: 'cs_k1',
        tags: ['a', 'b'],
        fixed: [1, true, null, 'x'],
      },
    );
  });

  it('leaves out fields and parameters whose argument is absent', () => {
    const capability = capabilityWith({
      connector: {
        request: {
          query: { n: '{args.note}', o: '{args.orderId}' },
          body: { a: '{args.note}', b: { c: '{args.tags}' } },
        },
      },
    });
    const request = render(capability);
    expect(request.url).toBe('https://payments.example.com/api/v1/refunds?o=ord_1');
    expect(bodyOf(request)).toEqual({ b: {} });
  });

  it('keeps braces and templates that stand in values as they are', () => {
    const capability = capabilityWith({
      connector: { request: { body: { a: '{args.orderId}', b: 'x{args.orderId}' } } },
    });
    const args = { ...ARGS, orderId: '{args.currency}{{downstreamKey}}${HOME}' };
    expect(bodyOf(render(capability, args))).toEqual({ a: args.orderId, b: `x${args.orderId}` });
  });

  it('carries our key in the argument the manifest names, beside all arguments', () => {
    const capability = capabilityWith({ idempotency: { header: undefined, argument: 'requestId' } });
    const request = render(capability);
    expect(bodyOf(request)).toEqual({ ...ARGS, requestId: 'cs_k1' });
    expect(request.headers).not.toHaveProperty('idempotency-key');
  });

  it('has no body and no content type where the template has none', () => {
    const request = render(reading('/v1/orders/{args.orderId}'));
    expect(request.body).toBeNull();
    expect(request.headers).toEqual({ accept: 'application/json' });
  });

  it('takes headers from the template only', () => {
    const headers = {
      Accept: 'application/vnd.api+json',
      'Content-Type': 'application/merge-patch+json',
      'X-Ref': 'ref-{downstreamKey}',
    };
    const request = render(capabilityWith({ connector: { request: { method: 'PATCH', headers } } }));
    expect(request.headers).toEqual({
      accept: 'application/vnd.api+json',
      'content-type': 'application/merge-patch+json',
      'x-ref': 'ref-cs_k1',
      'idempotency-key': 'cs_k1',
    });
  });

  it.each(['', 'a b', 'k\r\nx: y', 'k\n', 'k\u0000', 'ä', 'k'.repeat(256)])(
    'is never made with the downstream key %p',
    (downstreamKey) => {
      const capability = capabilityWith();
      const variables = { args: ARGS, downstreamKey, externalRequestId: null };
      expect(() => renderRequest(capability, capability.manifest.connector.request, variables)).toThrow(
        'downstream key',
      );
    },
  );

  it('is never made with a key longer than the tool takes', () => {
    const capability = capabilityWith({ idempotency: { keyLengthMax: 40 } });
    const variables = { args: ARGS, downstreamKey: 'k'.repeat(41), externalRequestId: null };
    expect(() => renderRequest(capability, capability.manifest.connector.request, variables)).toThrow('downstream key');
  });

  it('cannot get a header from an argument, however the argument looks', () => {
    const capability = capabilityWith({
      connector: {
        request: { path: '/v1/{args.orderId}', query: { q: '{args.note}' }, headers: { 'X-Fixed': 'fixed' } },
      },
    });
    const evil = 'x\r\nAuthorization: Bearer stolen\r\n\r\nGET /admin';
    const request = render(capability, { ...ARGS, note: evil });
    expect(Object.keys(request.headers).toSorted()).toEqual(['accept', 'content-type', 'idempotency-key', 'x-fixed']);
    expect(Object.values(request.headers).join('')).not.toMatch(/[\r\n]|stolen/);
    expect(request.url).not.toMatch(/[\r\n ]/);
    expect(refusalOf(() => render(capability, { ...ARGS, orderId: evil })).code).toBe('invalid_arguments');
  });
});

describe('a probe', () => {
  it('asks by our key and does not carry it where the effect does', () => {
    expect(probeOf(capabilityWith())).toEqual({
      method: 'GET',
      url: 'https://payments.example.com/api/v1/refunds?key=cs_k1',
      headers: { accept: 'application/json' },
      body: null,
    });
  });

  it('asks by the reference of the provider, encoded for its place', () => {
    const capability = capabilityWith({
      pending: { status: [202], referenceAt: '/id' },
      probe: {
        strategy: 'query_by_external_id',
        request: { path: '/v1/refunds/{externalRequestId}', query: { key: undefined } },
      },
    });
    expect(probeOf(capability, ARGS, 'rf/1 ?x#y').url).toBe(
      'https://payments.example.com/api/v1/refunds/rf%2F1%20%3Fx%23y',
    );
    expect(refusalOf(() => probeOf(capability, ARGS, '../admin')).code).toBe('invalid_arguments');
    expect(() => probeOf(capability)).toThrow();
  });
});

describe('a path', () => {
  const capability = reading('/v1/orders/{args.orderId}/lines/{args.amountMinor}');
  const url = (orderId: string): string => render(capability, { ...ARGS, orderId }).url;

  it.each([
    ['a/b', 'a%2Fb'],
    ['a\\b', 'a%5Cb'],
    ['a?b=c', 'a%3Fb%3Dc'],
    ['a#b', 'a%23b'],
    ['a;b', 'a%3Bb'],
    ['a%2Fb', 'a%252Fb'],
    ['%2e%2e', '%252e%252e'],
    ['...', '...'],
    ['a..b', 'a..b'],
    ['.hidden', '.hidden'],
    ["!'()*", '%21%27%28%29%2A'],
    ['@evil.example', '%40evil.example'],
    ['https://evil.example', 'https%3A%2F%2Fevil.example'],
    ['grün 😀', 'gr%C3%BCn%20%F0%9F%98%80'],
    ['__proto__', '__proto__'],
  ])('holds %p as exactly one segment', (orderId, segment) => {
    expect(url(orderId)).toBe(`https://payments.example.com/api/v1/orders/${segment}/lines/1250`);
  });

  it.each([
    '',
    '.',
    '..',
    '../..',
    'a/../b',
    '..\\x',
    'x/.',
    './x',
    'a\u0000b',
    'a\r\nb',
    'a\tb',
    'a\u007fb',
    'a\u0085b',
    'x'.repeat(9_000),
  ])('refuses %p', (orderId) => {
    const refusal = refusalOf(() => url(orderId));
    expect(refusal.code).toBe('invalid_arguments');
    expect(refusal.details.pointer).toMatch(/^\/arguments(?:\/orderId)?$/);
    expect(refusalOf(() => renderTarget(capability, { ...ARGS, orderId })).code).toBe('invalid_arguments');
  });

  it('never repeats the value in a refusal', () => {
    expect(refusalOf(() => url('../S3CRET')).message).not.toContain('S3CRET');
  });

  it.each([
    ['.', '.'],
    ['', '.'],
    ['.', ''],
  ])('cannot be made a dot segment by what stands around a value: %p %p', (before, after) => {
    const dotted = reading(`/v1/${before}{args.orderId}${after}/x`);
    expect(refusalOf(() => render(dotted, { ...ARGS, orderId: '.' })).code).toBe('invalid_arguments');
  });

  it('holds verbs and names around a value', () => {
    expect(render(reading('/v1/o-{args.orderId}:cancel')).url).toBe(
      'https://payments.example.com/api/v1/o-ord_1:cancel',
    );
  });

  it('always keeps origin, base path and shape, whatever the arguments', () => {
    const both = reading(
      '/v1/{args.orderId}/x/{args.currency}',
      { query: { q: '{args.note}', 'a b&': 'p{args.orderId}s' } },
      {
        currency: { pattern: undefined },
      },
    );
    const text = fc.oneof(
      {
        weight: 3,
        arbitrary: fc.string({
          unit: fc.constantFrom('.', '/', '%', '2', 'e', 'f', '?', '#', '@', ';', ' ', 'é', '&', '='),
          minLength: 1,
        }),
      },
      fc.string({ unit: 'binary' }).filter((value) => !/[\ud800-\udfff]/.test(value)),
      fc.string({
        unit: fc.constantFrom(
          '.',
          '/',
          '\\',
          '%',
          '2',
          'e',
          'f',
          '?',
          '#',
          '@',
          ':',
          ';',
          ' ',
          'a',
          '\r',
          '\n',
          '\0',
          '&',
          '=',
        ),
      }),
    );
    let rendered = 0;
    fc.assert(
      fc.property(text, text, fc.option(text, { nil: undefined }), (orderId, currency, note) => {
        const args = { ...ARGS, orderId, currency, ...(note === undefined ? {} : { note }) };
        const target = urlOrRefusal(both, args);
        if (target === null) return;
        rendered += 1;
        const url = new URL(target);
        expect(url.href).toBe(target);
        expect(url.origin).toBe('https://payments.example.com');
        expect(url.hash + url.username + url.password).toBe('');
        const segments = url.pathname.split('/');
        expect([segments[1], segments[2], segments[4], segments.length]).toEqual(['api', 'v1', 'x', 6]);
        expect([decodeURIComponent(segments[3] ?? ''), decodeURIComponent(segments[5] ?? '')]).toEqual([
          orderId,
          currency,
        ]);
        expect([...url.searchParams.keys()]).toEqual(note === undefined ? ['a b&'] : ['q', 'a b&']);
        expect(decodeURIComponent(/[?&]a%20b%26=p([^&]*)s$/.exec(target)?.[1] ?? '?')).toBe(orderId);
      }),
      { numRuns: 2_000 },
    );
    expect(rendered).toBeGreaterThan(200);
  });
});

describe('a target', () => {
  it('is what the request will go to', () => {
    const capability = capabilityWith({
      connector: { request: { path: '/v1/{args.orderId}/refunds', query: { c: '{args.currency}' } } },
    });
    expect(renderTarget(capability, ARGS)).toEqual({
      connector: 'http',
      method: 'POST',
      url: 'https://payments.example.com/api/v1/ord_1/refunds?c=EUR',
    });
    expect(renderTarget(capability, ARGS)['url']).toBe(render(capability).url);
  });

  it('is the same at every time and for every order of keys', () => {
    const capability = capabilityWith({ connector: { request: { query: { n: '{args.note}' } } }, redact: ['/note'] });
    const one = renderTarget(capability, { ...ARGS, note: 'x' });
    expect(
      canonicalJson(renderTarget(capability, { note: 'x', currency: 'EUR', amountMinor: 1250, orderId: 'ord_1' })),
    ).toBe(canonicalJson(one));
    expect(renderTarget(capability, { ...ARGS, note: 'y' })).not.toEqual(one);
  });

  it('masks what is redacted, listed or not, and lets our key stand for itself', () => {
    const capability = capabilityWith({
      connector: {
        request: { query: { n: '{args.note}', t: '{args.cardToken}', e: '{args.customer.id}', k: '{downstreamKey}' } },
      },
      redact: ['/note', '/customer'],
      inputSchema: { required: ['orderId', 'amountMinor', 'customer'] },
    });
    const args = { ...ARGS, note: 'S3CRET1', cardToken: 'S3CRET2', customer: { id: 'S3CRET3' } };
    const { url } = renderTarget(capability, args);
    expect(url).not.toContain('S3CRET');
    expect(decodeURIComponent(url)).toMatch(
      /\?n=\[redacted:[0-9a-f]{8}\]&t=\[redacted:[0-9a-f]{8}\]&e=\[redacted:[0-9a-f]{8}\]&k=\{downstreamKey\}$/,
    );
    expect(render(capability, args).url).toContain('n=S3CRET1&t=S3CRET2&e=S3CRET3&k=cs_k1');
  });
});

describe("a caller's key", () => {
  it('is the template with its values', () => {
    expect(renderCallerKey('refund:{args.orderId}:{intentId}', ARGS, 'i1')).toBe('refund:ord_1:i1');
    expect(renderCallerKey('refund:{args.amountMinor}', ARGS, null)).toBe('refund:1250');
  });

  it('is missing when it needs an intent that nobody named', () => {
    expect(renderCallerKey('refund:{args.orderId}:{intentId}', ARGS, null)).toBeNull();
  });

  it('is visible ASCII, whatever the values', () => {
    expect(renderCallerKey('r:{args.orderId}:{intentId}', { orderId: 'a:b ü\n' }, 'x y')).toBe(
      'r:a%3Ab%20%C3%BC%0A:x%20y',
    );
  });

  it('differs whenever the values do', () => {
    const text = fc.string({ unit: fc.constantFrom('a', ':', '%', '3', 'A', ' '), maxLength: 6 });
    fc.assert(
      fc.property(text, text, text, text, (a, b, c, d) => {
        const [one, other] = [
          [a, b],
          [c, d],
        ].map(([orderId = '', intent = '']) => renderCallerKey('r:{args.orderId}:{intentId}', { orderId }, intent));
        expect(one === other).toBe(a === c && b === d);
      }),
      { numRuns: 2_000 },
    );
  });
});
