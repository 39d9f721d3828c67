import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { seal, unseal } from './sealing.js';

const KEY = new Uint8Array(32).fill(7);
const NONCE = new Uint8Array(12).fill(9);
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('sealing', () => {
  it('opens what it sealed, with the same key and context', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.string({ unit: 'grapheme' }), (plain, context) => {
        expect([...unseal(KEY, context, seal(KEY, NONCE, context, plain))]).toEqual([...plain]);
      }),
    );
  });

  it('is nonce, ciphertext and tag of AES-256-GCM, as another program computes them', () => {
    // McGrew and Viega, "The Galois/Counter Mode of Operation", test case 14: a key, a nonce and a block of zeros.
    const zeros = (length: number): Uint8Array => new Uint8Array(length);
    const sealed = Buffer.from(seal(zeros(32), zeros(12), '', zeros(16))).toString('hex');
    expect(sealed).toBe(`${'00'.repeat(12)}cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919`);
  });

  it('does not open when a single byte is another', () => {
    const sealed = seal(KEY, NONCE, 'evt_1', bytes('payload'));
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Uint8Array.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => unseal(KEY, 'evt_1', changed)).toThrow('do not open');
    }
  });

  it('does not open under another context or key, or when it is cut', () => {
    const sealed = seal(KEY, NONCE, 'evt_1', bytes('payload'));
    expect(() => unseal(KEY, 'evt_2', sealed)).toThrow('do not open');
    expect(() => unseal(new Uint8Array(32), 'evt_1', sealed)).toThrow('do not open');
    expect(() => unseal(KEY, 'evt_1', sealed.subarray(0, 27))).toThrow('too short');
    expect(() => unseal(KEY, 'evt_1', sealed.subarray(0, 30))).toThrow('do not open');
  });

  it('refuses a nonce of another length', () => {
    expect(() => seal(KEY, new Uint8Array(11), '', bytes('x'))).toThrow('a nonce has 12 bytes');
  });
});
