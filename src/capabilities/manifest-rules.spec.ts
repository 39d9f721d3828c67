import { describe, expect, it } from '@jest/globals';
import { pointersWith, problemsWith, SURROUNDINGS } from '../../test/contract/capabilities/manifest-examples.js';
import type { Changes } from '../../test/contract/capabilities/manifest-examples.js';

describe('connector rules', () => {
  it('let plain http reach only addresses that are named', () => {
    expect(problemsWith({ connector: { baseUrl: 'http://example.com' } })).toEqual([
      expect.stringContaining('public addresses need https'),
    ]);
    expect(problemsWith({ connector: { baseUrl: 'http://example.com', allowAddresses: ['10.0.0.0/8'] } })).toEqual([]);
  });

  it.each(['metadata', 'public', 'localhost', 'example.com', '10.0.0.0/40', '*', '::/129'])(
    'refuse the address %p',
    (entry) => {
      expect(pointersWith({ connector: { allowAddresses: ['loopback', entry] } })).toEqual([
        '/connector/allowAddresses/1',
      ]);
    },
  );

  it('refuse a credential that the settings do not have', () => {
    expect(problemsWith({ connector: { credential: 'payments' } })).toEqual([]);
    for (const credential of ['other', 'toString', '__proto__']) {
      expect(pointersWith({ connector: { credential } })).toEqual(['/connector/credential']);
    }
  });

  it('refuse a header that carries the credential', () => {
    const clash = { connector: { credential: 'keyed', request: { headers: { 'X-API-Key': 'x' } } } };
    expect(pointersWith(clash)).toEqual(['/connector/request/headers/X-API-Key']);
    expect(pointersWith({ connector: { credential: 'keyed' }, idempotency: { header: 'X-Api-Key' } })).toEqual([
      '/idempotency/header',
    ]);
    expect(problemsWith({ connector: { credential: 'payments' }, idempotency: { header: 'X-Api-Key' } })).toEqual([]);
  });
});

describe('rules about the place of our key', () => {
  it.each([
    'Host',
    'Authorization',
    'Cookie',
    'Content-Length',
    'Transfer-Encoding',
    'Connection',
    'Proxy-Authorization',
    'Content-Type',
    'Accept',
  ])('refuse the header %s', (header) => {
    expect(pointersWith({ idempotency: { header } })).toEqual(['/idempotency/header']);
  });

  it.each(['a b', 'a:b', '', 'a\r\nb', 'ä'])('refuse the header %p', (header) => {
    expect(pointersWith({ idempotency: { header } })).toEqual(['/idempotency/header']);
  });

  it('refuse a header that the template sets too', () => {
    const changes = { connector: { request: { headers: { 'idempotency-key': 'x' } } } };
    expect(pointersWith(changes)).toEqual(['/idempotency/header']);
  });

  it.each<[string, Changes]>([
    ['an argument', { idempotency: { argument: 'note' } }],
    ['a field of the body', { idempotency: { argument: 'key' }, connector: { request: { body: { key: 'x' } } } }],
    ['a body that is no object', { idempotency: { argument: 'key' }, connector: { request: { body: ['{args}'] } } }],
    ['no body', { idempotency: { argument: 'key' }, connector: { request: { body: undefined } } }],
  ])('refuse to overwrite %s', (_, changes) => {
    expect(pointersWith(changes)).toEqual(['/idempotency/argument']);
  });

  it('allow an argument beside the fields of a body', () => {
    expect(problemsWith({ idempotency: { argument: 'key' }, connector: { request: { body: { a: 'x' } } } })).toEqual(
      [],
    );
    expect(problemsWith({ idempotency: { argument: 'requestId' } })).toEqual([]);
  });
});

describe("rules about the caller's key", () => {
  const withTemplate = (callerKeyTemplate: string): readonly string[] =>
    problemsWith({ idempotency: { callerKeyTemplate } });

  it.each(['refund:{args.orderId}:{intentId}', '{intentId}', 'r/{args.orderId}/{args.amountMinor}/{args.currency}'])(
    'allow %s',
    (template) => {
      expect(withTemplate(template)).toEqual([]);
    },
  );

  it.each([
    ['refund', 'same key'],
    ['refund {intentId}', 'visible ASCII'],
    ['refünd:{intentId}', 'visible ASCII'],
    ['{args.note}', 'required or has a default'],
    ['{args.tags}', 'required or has a default'],
    ['{args.customer.id}', 'required or has a default'],
    ['{args.missing}', 'required or has a default'],
    ['{args}', '{args.name} and {intentId} only'],
    ['{downstreamKey}', '{args.name} and {intentId} only'],
    ['{args.orderId}{intentId}', 'no value can hold'],
    ['{args.orderId}-{intentId}', 'no value can hold'],
    ['{args.orderId}.x_{intentId}', 'no value can hold'],
    ['{args.orderId', 'single brace'],
    ['{time}', 'unknown placeholder'],
  ])('refuse %s', (template, words) => {
    expect(withTemplate(template)).toContainEqual(expect.stringContaining(words));
  });
});

describe('status rules', () => {
  it.each([100, 200, 202, 204, 301, 302, 399])('refuse %d as a rejection', (status) => {
    expect(pointersWith({ definitiveStatus: [404, status] })).toEqual(['/definitiveStatus/1']);
    expect(pointersWith({ rejectedBeforeExecutionStatus: [status] })).toEqual(['/rejectedBeforeExecutionStatus/0']);
  });

  it.each([99, 600, 404.5, '404'])('refuse %p as a status', (status) => {
    expect(pointersWith({ definitiveStatus: [status] })).toEqual(['/definitiveStatus/0']);
  });

  it('refuse one status with two meanings', () => {
    expect(pointersWith({ definitiveStatus: [404, 429], rejectedBeforeExecutionStatus: [503, 429] })).toEqual([
      '/definitiveStatus/1',
    ]);
  });

  it.each([199, 300, 404, 500])('refuse %d as a pending answer', (status) => {
    expect(pointersWith({ pending: { status: [202, status], referenceAt: '/id' } })).toEqual(['/pending/status/1']);
  });

  it('refuse a pending answer without a status or a place for its reference', () => {
    expect(pointersWith({ pending: { status: [], referenceAt: '/id' } })).toEqual(['/pending/status']);
    expect(pointersWith({ pending: { status: [202], referenceAt: 'id' } })).toEqual(['/pending/referenceAt']);
  });

  it('allow what can be said', () => {
    expect(problemsWith({ definitiveStatus: [400, 501], rejectedBeforeExecutionStatus: [429, 503] })).toEqual([]);
    expect(problemsWith({ definitiveStatus: [] })).toEqual([]);
  });
});

describe('pointer rules', () => {
  it('allow what the input schema declares, at any depth', () => {
    expect(
      problemsWith({ redact: ['/cardToken', '/customer/email', '/tags/*', '/tags'], personal: ['/customer', '/note'] }),
    ).toEqual([]);
  });

  it.each(['/cardtoken', '/customer/phone', '/cardToken/x', '/*/x', '/tags/x'])(
    'refuse %s, which hides nothing',
    (pointer) => {
      expect(pointersWith({ redact: ['/note', pointer] })).toEqual(['/redact/1']);
      expect(pointersWith({ personal: [pointer] })).toEqual(['/personal/0']);
    },
  );

  it.each(['', 'cardToken', '/a~2', 5])('refuse %p, which is no pointer to an argument', (pointer) => {
    expect(pointersWith({ redact: [pointer] })).toEqual(['/redact/0']);
  });

  it('say nothing about arguments while the input schema has problems of its own', () => {
    const found = pointersWith(
      { inputSchema: { properties: { x: { format: 'nope', type: 'string' } } }, redact: ['/missing'] },
      SURROUNDINGS,
    );
    expect(found).toEqual(['/inputSchema/properties/x/format']);
  });
});
