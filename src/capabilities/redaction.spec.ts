import { createHash, createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { capabilityWith } from '../../test/contract/capabilities/manifest-examples.js';
import type { JsonObject } from '../domain/json/json-value.js';
import { redactArguments, redactLeaves, sensitivePointers } from './redaction.js';

const { manifest } = capabilityWith({ redact: ['/note', '/tags/*', '/customer/email'] });

function masked(canonical: string): string {
  return `[redacted:${createHash('sha256').update(canonical).digest('hex').slice(0, 8)}]`;
}

describe('redacted arguments', () => {
  it('show eight digits of a digest in place of what the manifest lists', () => {
    const args = {
      orderId: 'o',
      amountMinor: 5,
      note: 'hush',
      tags: ['a', 'b'],
      customer: { id: 'c', email: 'x@y.z' },
    };
    expect(redactArguments(manifest, args)).toEqual({
      orderId: 'o',
      amountMinor: 5,
      note: masked('"hush"'),
      tags: [masked('"a"'), masked('"b"')],
      customer: { id: 'c', email: masked('"x@y.z"') },
    });
    expect(args.note).toBe('hush');
  });

  it('leave arguments alone that hold nothing to hide', () => {
    const args = { orderId: 'o', amountMinor: 5 };
    expect(redactArguments(manifest, args)).toBe(args);
  });

  it('hide secrets that nobody listed, at any depth', () => {
    const args = {
      req: {
        headers: { Authorization: 'Bearer T0KEN-XYZ', Cookie: 's=T0KEN-XYZ' },
        list: [{ private_key: 'T0KEN-XYZ' }],
      },
      note: 'T0KEN-XYZ',
      text: '-----BEGIN PRIVATE KEY-----T0KEN-XYZ',
    };
    const redacted = redactArguments(manifest, args);
    expect(JSON.stringify(redacted)).not.toContain('T0KEN-XYZ');
    expect(redacted).toMatchObject({ req: { headers: { Cookie: masked('"s=T0KEN-XYZ"') } } });
  });

  it('depend on the value alone and never on the order of its keys', () => {
    const [one, other] = [{ password: { a: 1, b: 2 } }, { password: { b: 2, a: 1 } }].map((args) =>
      redactArguments(manifest, args),
    );
    expect(one).toEqual(other);
    expect(one).not.toEqual(redactArguments(manifest, { password: { a: 1, b: 3 } }));
  });

  it('use the key of the installation where one is given', () => {
    const key = new Uint8Array(32).fill(7);
    const digits = createHmac('sha256', key).update('1234').digest('hex').slice(0, 8);
    expect(redactArguments(manifest, { pin: 1234 }, key)).toEqual({ pin: `[redacted:${digits}]` });
    expect(redactArguments(manifest, { pin: 1234 })).toEqual({ pin: masked('1234') });
  });

  it('hold no masked value anywhere, whatever the arguments', () => {
    const args = fc.dictionary(fc.constantFrom('password', 'token', 'a', 'note'), fc.jsonValue({ maxDepth: 2 }), {
      noNullPrototype: true,
    });
    fc.assert(
      fc.property(args, fc.uuid(), (around, secret) => {
        const whole = {
          ...around,
          list: [{ apiKey: secret }],
          note: { deep: [secret] },
          password: secret,
        } as JsonObject;
        expect(JSON.stringify(redactArguments(manifest, whole))).not.toContain(secret);
        expect(JSON.stringify(redactLeaves(manifest, whole))).not.toContain(secret);
      }),
    );
  });
});

describe('redacted leaves', () => {
  it('keep the shape, so that a field inside still has its place', () => {
    const { manifest: whole } = capabilityWith({ redact: ['/customer'] });
    expect(redactLeaves(whole, { customer: { id: 'c', tier: 'gold' }, orderId: 'o' })).toEqual({
      customer: { id: masked('"c"'), tier: masked('"gold"') },
      orderId: 'o',
    });
  });
});

describe('sensitive pointers', () => {
  it('name each secret by its RFC 6901 pointer', () => {
    const args = {
      'a/b': { 'x~y': { token: 's' } },
      list: ['x', { Password: 's' }, 'Bearer abcdefghijklmnopqrst'],
      credentials: { user: 'u' },
    };
    expect(sensitivePointers(args)).toEqual(['/a~1b/x~0y/token', '/list/1/Password', '/list/2', '/credentials']);
  });

  it('pass over what holds no secret', () => {
    expect(
      sensitivePointers({ token: null, password: '', secret: false, cookie: true, orderId: 'o', pageToken: 'p' }),
    ).toEqual([]);
  });
});
