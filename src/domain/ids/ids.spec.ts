import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { BASE32_ALPHABET } from './base32.js';
import type { IdPrefix } from './ids.js';
import { createIdSource, ID_PREFIXES, ID_RANDOM_BYTES, isId, newId } from './ids.js';

const TIME_MAX = 2 ** 48 - 1;
const prefixes: readonly IdPrefix[] = Object.values(ID_PREFIXES);
const random = fc.uint8Array({ minLength: ID_RANDOM_BYTES, maxLength: ID_RANDOM_BYTES });
const time = fc.oneof(fc.nat(), fc.integer({ min: 0, max: TIME_MAX }), fc.constantFrom(0, TIME_MAX));

/** Reads an id back by plain arithmetic: 26 digits of base 32 are time * 2^80 + random. */
function numberIn(id: string): bigint {
  const body = id.slice(id.indexOf('_') + 1);
  return Array.from(body).reduce((sum, digit) => sum * 32n + BigInt(BASE32_ALPHABET.indexOf(digit)), 0n);
}

function numberOf(bytes: Uint8Array): bigint {
  return bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
}

function sourceAt(times: number[], draws: (length: number) => Uint8Array): { next(): string; drawn: number[] } {
  const drawn: number[] = [];
  let call = 0;
  const source = createIdSource(
    { now: () => times[Math.min(call, times.length - 1)] as number },
    {
      bytes: (length) => {
        drawn.push(length);
        return draws(length);
      },
    },
  );
  return {
    next: () => {
      const id = source.next('evt');
      call += 1;
      return id;
    },
    drawn,
  };
}

describe('an id', () => {
  it('holds 48 bits of time and 80 random bits after its prefix', () => {
    fc.assert(
      fc.property(fc.constantFrom(...prefixes), time, random, (prefix, ms, bytes) => {
        const id = newId(prefix, ms, bytes);
        expect(isId(prefix, id)).toBe(true);
        expect(numberIn(id)).toBe((BigInt(ms) << 80n) + numberOf(bytes));
      }),
    );
  });

  it('is known for fixed inputs', () => {
    expect(newId('call', 0, new Uint8Array(10))).toBe('call_00000000000000000000000000');
    expect(newId('evt', TIME_MAX, new Uint8Array(10).fill(255))).toBe('evt_7zzzzzzzzzzzzzzzzzzzzzzzzz');
    expect(newId('run', 1_469_918_176_385, Uint8Array.of(0, 1, 2, 3, 4, 5, 6, 7, 8, 9))).toBe(
      'run_01aryz6s41000g40r40m30e209',
    );
  });

  it('sorts by time', () => {
    fc.assert(
      fc.property(time, time, random, random, (a, b, bytesA, bytesB) => {
        fc.pre(a < b);
        expect(newId('evt', a, bytesA) < newId('evt', b, bytesB)).toBe(true);
      }),
    );
  });

  it('needs whole milliseconds in range and exactly ten bytes', () => {
    for (const ms of [-1, 0.5, Number.NaN, TIME_MAX + 1, Number.POSITIVE_INFINITY]) {
      expect(() => newId('evt', ms, new Uint8Array(10))).toThrow(/milliseconds/);
    }
    for (const length of [0, 9, 11]) expect(() => newId('evt', 0, new Uint8Array(length))).toThrow(/10 random bytes/);
  });

  it('has a prefix of its own for each kind', () => {
    expect(new Set(prefixes).size).toBe(prefixes.length);
    for (const prefix of prefixes) expect(prefix).toMatch(/^[a-z]{3,4}$/);
  });
});

describe('isId', () => {
  const good = newId('ses', 1_700_000_000_000, new Uint8Array(10).fill(7));

  it('accepts the exact form for its prefix only', () => {
    expect(isId('ses', good)).toBe(true);
    for (const prefix of prefixes) expect(isId(prefix, good)).toBe(prefix === 'ses');
  });

  const paths = ['..', '.', '../x', '..\\x', '/etc/x', 'D:sub', '%2e%2e%2fx', 'a/../../b', 'a:b', 'a/b', 'a-b'];
  const lengths = ['', 'x'.repeat(300), 'x'.repeat(5000), '\u{1F389}'.repeat(200), good.slice(0, -1), `${good}0`];
  const controls = ['k\u0007k', 'k\nk', `${good}\n`, `\n${good}`, ` ${good}`, `${good} `, `${good}\u0000`];
  const lastReplaced = ['u', 'i', 'l', 'o', 'A', '.', '/', '\n', '\u0660'].map((last) => good.slice(0, -1) + last);
  const spellings = [good.toUpperCase(), good.replace('_', '-'), good.replace('ses_0', 'ses_8'), `SES${good.slice(3)}`];
  const otherTypes = [null, undefined, 0, {}, [good]];
  const others: readonly unknown[] = [paths, lengths, controls, lastReplaced, spellings, otherTypes].flat();

  it('refuses paths, controls, other lengths, other letters and other types', () => {
    expect(others.filter((other) => isId('ses', other))).toEqual([]);
  });
});

describe('an id source', () => {
  it('counts up within one millisecond and draws no new bits', () => {
    const source = sourceAt([5], () => new Uint8Array(10).fill(1));
    const ids = Array.from({ length: 100 }, () => source.next());
    ids.forEach((id, index) => expect(numberIn(id)).toBe(numberIn(ids[0] as string) + BigInt(index)));
    expect(source.drawn).toEqual([ID_RANDOM_BYTES]);
  });

  it('carries through every position, and into the next millisecond when the bits run out', () => {
    for (let bits = 1; bits <= 80; bits += 1) {
      const start = 2n ** BigInt(bits) - 1n;
      const bytes = Buffer.from(start.toString(16).padStart(20, '0'), 'hex');
      const source = sourceAt([5], () => (source.drawn.length === 1 ? bytes : new Uint8Array(10)));
      expect(numberIn(source.next())).toBe((5n << 80n) + start);
      expect(numberIn(source.next())).toBe((5n << 80n) + start + 1n);
    }
  });

  it('draws new bits when the clock goes on, and drops fractions of a millisecond', () => {
    const source = sourceAt([5, 6.75, 6.9], () => new Uint8Array(10).fill(3));
    const ids = [source.next(), source.next(), source.next()].map(numberIn);
    expect(ids.map((id) => id >> 80n)).toEqual([5n, 6n, 6n]);
    expect(source.drawn).toHaveLength(2);
  });

  it('rises strictly and never repeats, however the clock jumps', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20), { minLength: 2, maxLength: 60 }), fc.infiniteStream(random), (times, draws) => {
        const source = sourceAt(times, () => draws.next().value as Uint8Array);
        const ids = times.map(() => source.next());
        for (let index = 1; index < ids.length; index += 1) {
          expect((ids[index - 1] as string) < (ids[index] as string)).toBe(true);
        }
      }),
    );
  });

  it('keeps one order over all prefixes', () => {
    const source = createIdSource({ now: () => 9 }, { bytes: (length) => new Uint8Array(length) });
    const numbers = prefixes.map((prefix) => numberIn(source.next(prefix)));
    numbers.slice(1).forEach((number, index) => expect(number > (numbers[index] as bigint)).toBe(true));
  });

  it('does not give an id when the clock or the random source is broken', () => {
    const broken = createIdSource({ now: () => Number.NaN }, { bytes: (length) => new Uint8Array(length) });
    expect(() => broken.next('evt')).toThrow(/milliseconds/);
    const short = createIdSource({ now: () => 1 }, { bytes: () => new Uint8Array(3) });
    expect(() => short.next('evt')).toThrow(/10 random bytes/);
    expect(() => short.next('evt')).toThrow(/10 random bytes/);
  });
});
