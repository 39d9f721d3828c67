import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LocalKeyRing } from '../storage/local-key-ring.js';
import { SystemRandom } from '../system/random-source.js';
import { openSecret, sealSecret } from './secret-envelope.js';
import { SecretRef } from './secret-ref.js';

const random = new SystemRandom();
const ring = new LocalKeyRing(random.bytes(32), random);
const NAME = { tenant: '*', name: 'payments', version: 1 };
const VALUE = 'canary-envelope-5Tz';

describe('a secret in its envelope', () => {
  it('opens as it was, whatever text it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (value) => {
        const row = { ...NAME, ...sealSecret(ring, random, NAME, value) };
        expect(openSecret(ring, row)).toBe(value);
      }),
    );
  });

  it('is other bytes every time, and none of them are the value', () => {
    const [one, two] = [sealSecret(ring, random, NAME, VALUE), sealSecret(ring, random, NAME, VALUE)];
    expect(one.sealed).not.toBe(two.sealed);
    expect(one.wrapped).not.toBe(two.wrapped);
    const bytes = Buffer.concat([one.sealed, one.wrapped].map((text) => Buffer.from(text ?? '', 'base64')));
    expect(bytes.includes(VALUE)).toBe(false);
  });

  it.each([
    ['another tenant', { tenant: 'acme' }],
    ['another name', { name: 'paymentt' }],
    ['another version', { version: 2 }],
  ])('opens under no other place: %s', (_, elsewhere) => {
    const envelope = sealSecret(ring, random, NAME, VALUE);
    expect(() => openSecret(ring, { ...NAME, ...elsewhere, ...envelope })).toThrow('do not open');
  });

  it('does not open when its value, its key or its key-encryption key is that of another', () => {
    const [one, two] = [sealSecret(ring, random, NAME, VALUE), sealSecret(ring, random, NAME, 'other')];
    expect(() => openSecret(ring, { ...NAME, ...one, sealed: two.sealed })).toThrow('do not open');
    expect(() => openSecret(ring, { ...NAME, ...one, wrapped: two.wrapped })).toThrow('do not open');
    const other = new LocalKeyRing(random.bytes(32), random);
    expect(() => openSecret(other, { ...NAME, ...one })).toThrow('not loaded');
  });

  it('is nothing once it is retired', () => {
    expect(openSecret(ring, { ...NAME, wrapped: null, kek_id: null, sealed: null })).toBeNull();
  });
});

describe('a reference to a secret', () => {
  const ref = new SecretRef('payments', 3, VALUE);
  /** As careless code has it. */
  const careless = ref as unknown as string;

  it('prints as its name and version wherever it is printed', () => {
    const printed = [
      String(ref),
      `a ${careless}`,
      'a' + careless,
      JSON.stringify(ref),
      JSON.stringify({ ref, list: [ref] }),
      inspect(ref),
      inspect({ ref }, { depth: 9, showHidden: true, getters: true }),
      new Error(`failed with ${careless}`).message,
      inspect(new Error('failed', { cause: ref })),
      Object.values(ref).join(),
      Object.entries(ref).join(),
    ];
    expect(printed.join('\n')).not.toContain(VALUE);
    expect(printed.slice(0, 3)).toEqual(['[secret:payments@3]', 'a [secret:payments@3]', 'a[secret:payments@3]']);
    expect(JSON.stringify(ref)).toBe('"[secret:payments@3]"');
    expect(inspect(ref)).toBe('[secret:payments@3]');
  });

  it('gives its value to whoever asks for it by name', () => {
    expect(ref.reveal()).toBe(VALUE);
  });
});
