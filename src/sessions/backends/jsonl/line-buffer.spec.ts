import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import { LineBuffer } from './line-buffer.js';
import { openedLine, sealedLine } from './sealed-line.js';

const SEED = 7;

describe('Sealed lines', () => {
  it('are the same bytes whether they are made one by one or in a buffer', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme', maxLength: 40 }), { minLength: 1, maxLength: 20 }),
        (texts) => {
          const objects = texts.map((text) => JSON.stringify({ k: 'e', text }));
          const buffer = new LineBuffer(SEED, 16);
          for (const json of objects) buffer.add(json);
          expect(buffer.take().toString()).toBe(objects.map((json) => sealedLine(SEED, json)).join(''));
          expect(buffer.size).toBe(0);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('grow with a line that is longer than everything before it', () => {
    const buffer = new LineBuffer(SEED, 16);
    const json = JSON.stringify({ text: 'é'.repeat(100_000) });
    buffer.add('{"a":1}');
    buffer.add(json);
    expect(buffer.take().toString()).toBe(sealedLine(SEED, '{"a":1}') + sealedLine(SEED, json));
  });

  it('leave what was taken to the taker', () => {
    const buffer = new LineBuffer(SEED, 16);
    buffer.add('{"a":1}');
    const taken = buffer.take();
    buffer.add('{"b":2}');
    expect(taken.toString()).toBe(sealedLine(SEED, '{"a":1}'));
  });

  it('are opened to the text that was sealed, and not with a bit flipped, cut or under another seed', () => {
    const json = '{"k":"e","text":"\u00e9"}';
    const line = Buffer.from(sealedLine(SEED, json)).subarray(0, -1);
    expect(openedLine(SEED, line, 0, line.length)).toBe(json);
    expect(openedLine(SEED + 1, line, 0, line.length)).toBeNull();
    for (let at = 0; at < line.length; at += 1) {
      for (let bit = 0; bit < 8; bit += 1) {
        const flipped = Buffer.from(line);
        flipped.writeUInt8(flipped.readUInt8(at) ^ (1 << bit), at);
        expect(openedLine(SEED, flipped, 0, flipped.length)).toBeNull();
      }
      expect(openedLine(SEED, line, 0, at)).toBeNull();
    }
  });
});
