import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isWellFormed } from '../../domain/text/well-formed.js';
import { createScrubber, REDACTED } from './scrub.js';

const SECRET = 'L-T0KEN/+"\\é?7';
const scrub = createScrubber([SECRET]);

const encodings: readonly [string, (secret: string) => string][] = [
  ['plain', (secret) => secret],
  ['JSON-escaped', (secret) => JSON.stringify(secret).slice(1, -1)],
  ['twice JSON-escaped', (secret) => JSON.stringify(JSON.stringify(secret)).slice(3, -3)],
  ['JSON-escaped with an escaped slash', (secret) => JSON.stringify(secret).slice(1, -1).replaceAll('/', '\\/')],
  [
    'wholly \\u-escaped',
    (secret) => secret.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  ],
  ['percent-encoded', (secret) => encodeURIComponent(secret)],
  ['percent-encoded in lower case', (secret) => encodeURIComponent(secret).toLowerCase()],
  ['wholly percent-encoded', (secret) => Buffer.from(secret).toString('hex').replace(/../g, '%$&')],
  ['twice percent-encoded', (secret) => encodeURIComponent(encodeURIComponent(secret))],
  ['hexadecimal', (secret) => Buffer.from(secret).toString('hex')],
  ['upper-case hexadecimal', (secret) => Buffer.from(secret).toString('hex').toUpperCase()],
  ['base64', (secret) => Buffer.from(secret).toString('base64')],
  ['base64url', (secret) => Buffer.from(secret).toString('base64url')],
  ['base64, percent-encoded', (secret) => encodeURIComponent(Buffer.from(secret).toString('base64'))],
  ['base64 with escaped slashes', (secret) => Buffer.from(secret).toString('base64').replaceAll('/', '\\/')],
];

/** Percent-encoding in lower case changes letters of the secret too, which makes it another text. */
const lowerCased = 'l-t0ken/+"\\é?7';

describe('createScrubber', () => {
  it.each(encodings)('replaces a secret in its %s form', (name, encode) => {
    const [secret, scrubber] = name.endsWith('in lower case')
      ? [lowerCased, createScrubber([lowerCased])]
      : [SECRET, scrub];
    const text = `<before>${encode(secret)}<after>`;
    expect(scrubber.containsSecret(text)).toBe(true);
    expect(scrubber(text)).toBe(`<before>${REDACTED}<after>`);
  });

  it('finds the secret at every position within a longer base64 text', () => {
    for (const user of ['', 'u', 'us', 'use', 'user']) {
      for (const tail of ['', '!', '!!', '!!!']) {
        const encoded = Buffer.from(`${user}:${SECRET}${tail}`).toString('base64');
        const scrubbed = scrub(`Basic ${encoded};`);
        expect(scrubbed).toMatch(/^Basic [A-Za-z0-9+/]*\[redacted\][A-Za-z0-9+/]*=*;$/);
        expect(scrub.containsSecret(scrubbed)).toBe(false);
      }
    }
  });

  it('replaces every occurrence, also next to and over each other', () => {
    expect(scrub(`${SECRET}${SECRET} x ${SECRET}`)).toBe(`${REDACTED}${REDACTED} x ${REDACTED}`);
    expect(createScrubber(['aaaa'])('baaaaac')).toBe(`b${REDACTED}c`);
    expect(createScrubber(['secret', 'secret-long', 'long-tail'])('a secret-long-tail b')).toBe(`a ${REDACTED} b`);
  });

  it('works on the text its chunks make, where no chunk holds the secret', () => {
    const body = JSON.stringify({ error: `bad token ${SECRET}` });
    const at = body.indexOf('T0KEN') + 2;
    const chunks = [body.slice(0, at), body.slice(at)];
    expect(chunks.some((chunk) => scrub.containsSecret(chunk))).toBe(false);
    expect(scrub(chunks.join(''))).toBe(`{"error":"bad token ${REDACTED}"}`);
  });

  it('leaves everything around a secret as it was, escapes and all', () => {
    expect(scrub(`"\\u0041\\n%41 ${encodeURIComponent(SECRET)} %41\\n\\u0041"`)).toBe(
      `"\\u0041\\n%41 ${REDACTED} %41\\n\\u0041"`,
    );
  });

  it('gives a text without secrets back as it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        fc.pre(!scrub.containsSecret(text));
        expect(scrub(text)).toBe(text);
        expect(createScrubber([])(text)).toBe(text);
      }),
    );
  });

  it('does not look for values that ordinary text holds by chance', () => {
    expect(createScrubber(['', 'a', 'abc'])('abcabc')).toBe('abcabc');
    expect(createScrubber(['abcd'])('abcd')).toBe(REDACTED);
  });

  it('leaves no secret behind in any form at any place', () => {
    const secret = fc
      .string({ unit: 'grapheme', minLength: 6, maxLength: 40 })
      .filter((text) => !REDACTED.includes(text) && isWellFormed(text));
    const encode = fc.constantFrom(
      ...encodings.filter(([name]) => !name.endsWith('lower case')).map(([, encoder]) => encoder),
    );
    fc.assert(
      fc.property(secret, encode, fc.string(), fc.string(), (hidden, encoder, before, after) => {
        const scrubber = createScrubber([hidden]);
        const encoded = encoder(hidden);
        // A separator, because what touches an escape may become part of it.
        const scrubbed = scrubber(`${before} ~${encoded}~ ${after}`);
        expect(scrubber.containsSecret(`${before} ~${encoded}~ ${after}`)).toBe(true);
        expect(scrubbed.includes(encoded)).toBe(false);
        expect(scrubbed).toContain(REDACTED);
      }),
      { numRuns: 500 },
    );
  });

  it('replaces the beginning of a secret at the end of a text that was cut', () => {
    expect(scrub(`{"error":"bad ${SECRET.slice(0, 6)}`, { isCut: true })).toBe(`{"error":"bad ${REDACTED}`);
    expect(scrub(`x ${Buffer.from(SECRET).toString('base64').slice(0, 9)}`, { isCut: true })).toBe(`x ${REDACTED}`);
    expect(scrub(`x ${encodeURIComponent(SECRET).slice(0, 9)}`, { isCut: true })).toBe(`x ${REDACTED}`);
    expect(scrub(`x ${SECRET.slice(0, 3)}`, { isCut: true })).toBe(`x ${SECRET.slice(0, 3)}`);
    expect(scrub(`x ${SECRET.slice(0, 6)}`)).toBe(`x ${SECRET.slice(0, 6)}`);
  });

  it('scrubs strings, keys and numbers of a JSON value and nothing else', () => {
    const scrubber = createScrubber(['12345678', SECRET]);
    expect(scrubber.json({ [SECRET]: [SECRET, 12345678, 1234567, true, null], other: { deep: `x${SECRET}` } })).toEqual(
      {
        [REDACTED]: [REDACTED, REDACTED, 1234567, true, null],
        other: { deep: `x${REDACTED}` },
      },
    );
    const hostile = JSON.parse('{"__proto__":"12345678"}') as { readonly __proto__: string };
    expect(JSON.stringify(scrubber.json(hostile))).toBe(`{"__proto__":"${REDACTED}"}`);
  });

  it('takes time in proportion to a large and hostile text', () => {
    const token = 'x'.repeat(2_000);
    const text = `${'x'.repeat(1_999)}%41\\u0041`.repeat(250);
    const startedAt = process.hrtime.bigint();
    createScrubber([token])(text, { isCut: true });
    expect(Number(process.hrtime.bigint() - startedAt) / 1e6).toBeLessThan(5_000);
  });
});
