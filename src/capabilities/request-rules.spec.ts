import { describe, expect, it } from '@jest/globals';
import { pointersWith, problemsWith } from '../../test/contract/capabilities/manifest-examples.js';
import { parsedManifest } from '../../test/contract/capabilities/manifest-examples.js';
import type { Changes } from '../../test/contract/capabilities/manifest-examples.js';
import { usesPlaceholder } from './request-rules.js';

const withRequest = (request: Changes, more: Changes = {}): readonly string[] =>
  problemsWith({ ...more, connector: { request } });
const placesOf = (request: Changes, more: Changes = {}): readonly string[] => [
  ...new Set(
    pointersWith({ ...more, connector: { request } }).map((pointer) => pointer.replace('/connector/request', '')),
  ),
];

describe('rules about a path', () => {
  it.each([
    '/',
    '/v1/refunds',
    '/v1/refunds/',
    '/v1/{args.orderId}',
    '/v1/o-{args.orderId}:x/{args.currency}',
    "/a-._~!$&'()*+,;=:@",
  ])('allow %s', (path) => {
    expect(withRequest({ path })).toEqual([]);
  });

  it.each([
    'v1',
    '',
    'https://evil.example/x',
    '//evil.example/x',
    '/a//b',
    '/a/../b',
    '/./a',
    '/a/..',
    '/a?b=c',
    '/a#b',
    '/a\\b',
    '/a b',
    '/a%2fb',
    '/%2e%2e/a',
    '/ä',
    '/a\nb',
    '/{{a}}',
    '/{args.orderId',
    '/{args.missing}',
    '/{args.note}',
    '/{args.tags}',
    '/{args.customer}',
    '/{args.customer.id}',
    '/{args}',
    '/{externalRequestId}',
    '/{intentId}',
  ])('refuse %p', (path) => {
    expect(placesOf({ path })).toContain('/path');
  });

  it('allow an optional argument once it has a default, and a nested one once all around it is required', () => {
    expect(withRequest({ path: '/{args.note}' }, { inputSchema: { properties: { note: { default: 'x' } } } })).toEqual(
      [],
    );
    const required = { inputSchema: { required: ['orderId', 'amountMinor', 'customer'] } };
    expect(withRequest({ path: '/{args.customer.id}/{args.customer.tier}' }, required)).toEqual([]);
    expect(placesOf({ path: '/{args.customer.email}' }, required)).toEqual(['/path']);
  });

  it('refuse an argument that may be null, which has no text', () => {
    const nullable = { inputSchema: { properties: { orderId: { type: ['string', 'null'] } } } };
    expect(placesOf({ path: '/{args.orderId}' }, nullable)).toEqual(['/path']);
  });
});

describe('rules about a query', () => {
  it('allow an optional argument alone, which is then left out', () => {
    expect(
      withRequest({ query: { n: '{args.note}', o: 'x-{args.orderId}', k: '{downstreamKey}', fixed: 'a b' } }),
    ).toEqual([]);
  });

  it.each([
    'x{args.note}',
    '{args.tags}',
    '{args.customer}',
    '{args}',
    '{args.missing}',
    '{intentId}',
    '{externalRequestId}',
    '{',
  ])('refuse %p', (value) => {
    expect(placesOf({ query: { q: value } })).toEqual(['/query/q']);
  });

  it('refuse a placeholder in the name of a parameter', () => {
    expect(placesOf({ query: { '{args.note}': 'x' } })).toEqual(['/query/{args.note}']);
  });
});

describe('rules about headers', () => {
  it('allow fixed text and our key', () => {
    expect(
      withRequest({
        headers: { Accept: 'application/json', 'X-Trace': 'k {downstreamKey}', 'Content-Type': 'application/hal+json' },
      }),
    ).toEqual([]);
  });

  it.each([
    'Host',
    'Authorization',
    'Cookie',
    'Content-Length',
    'Transfer-Encoding',
    'Connection',
    'Keep-Alive',
    'Upgrade',
    'TE',
    'Trailer',
    'Expect',
    'Proxy-Authorization',
    'Proxy-Connection',
    'Accept-Encoding',
    'a b',
    'a:b',
    'a\r\nb',
    'ä',
  ])('refuse the header %p', (name) => {
    expect(placesOf({ headers: { [name]: 'x' } })).toEqual([`/headers/${name}`]);
  });

  it.each([
    'a\r\nb: c',
    'a\nb',
    'a\u0000b',
    'ä€',
    '{args.orderId}',
    '{args.note}',
    '{args}',
    '{externalRequestId}',
    '{intentId}',
    '{x}',
  ])('refuse the value %p', (value) => {
    expect(placesOf({ headers: { 'X-A': value } })).toContain('/headers/X-A');
  });

  it('refuse one header twice, whatever its case', () => {
    expect(placesOf({ headers: { 'X-A': '1', 'x-a': '2' } })).toEqual(['/headers/x-a']);
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=utf-16', 'json'])(
    'refuse the content type %s',
    (type) => {
      expect(placesOf({ headers: { 'content-type': type } })).toEqual(['/headers/content-type']);
    },
  );

  it('refuse a content type without a body', () => {
    expect(placesOf({ body: undefined, headers: { 'content-type': 'application/json' } })).toEqual([
      '/headers/content-type',
    ]);
  });
});

describe('rules about a body', () => {
  it('allow values, texts, optional fields and everything that is fixed', () => {
    const body = {
      a: '{args.note}',
      b: { c: '{args.tags}', d: '{args}' },
      e: ['{args.orderId}', 'x{args.amountMinor}'],
      f: [1, null],
      g: '{{}}',
    };
    expect(withRequest({ body })).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    ['an unknown argument', { a: '{args.missing}' }, '/body/a'],
    ['an optional argument inside a text', { a: { b: 'x{args.note}' } }, '/body/a/b'],
    ['a list inside a text', { a: 'x{args.tags}' }, '/body/a'],
    ['all arguments inside a text', { a: 'x{args}' }, '/body/a'],
    ['an optional argument as an item', ['{args.note}'], '/body/0'],
    ['an optional argument as the whole', '{args.note}', '/body'],
    ['a reference of the provider', { a: '{externalRequestId}' }, '/body/a'],
    ['an intent', { a: '{intentId}' }, '/body/a'],
    ['an unknown placeholder', { a: ['{env.HOME}'] }, '/body/a/0'],
    ['a single brace', { a: '{' }, '/body/a'],
    ['a placeholder as a name', { '{args.orderId}': 1 }, '/body/{args.orderId}'],
  ])('refuse %s', (_, body, place) => {
    expect(placesOf({ body })).toEqual([place]);
  });

  it('refuse a GET with a body', () => {
    expect(placesOf({ method: 'GET' }, { effect: 'read_only', probe: undefined })).toEqual(['/body']);
  });
});

describe('a placeholder in use', () => {
  it('is found in path, query, headers and body, and not where braces are doubled', () => {
    const uses = (request: Changes): boolean => {
      const parsed = parsedManifest({ connector: { request } });
      if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
      return usesPlaceholder(parsed.manifest.connector.request, 'downstreamKey');
    };
    expect(uses({})).toBe(false);
    expect(uses({ path: '/{downstreamKey}' })).toBe(true);
    expect(uses({ query: { k: '{downstreamKey}' } })).toBe(true);
    expect(uses({ headers: { k: '{downstreamKey}' } })).toBe(true);
    expect(uses({ body: { a: [{ b: 'x{downstreamKey}' }] } })).toBe(true);
    expect(uses({ body: { a: '{{downstreamKey}}' } })).toBe(false);
  });
});
