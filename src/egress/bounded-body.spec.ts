import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BoundedBody } from './bounded-body.js';

describe('BoundedBody', () => {
  it('keeps the first bytes up to its limit, whatever the chunks, and counts the rest', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 3_000 }), { maxLength: 12 }),
        fc.nat(9_000),
        (chunks, bytesMax) => {
          const body = new BoundedBody(bytesMax);
          for (const chunk of chunks) body.append(chunk);
          const all = Buffer.concat(chunks);
          expect(Buffer.from(body.bytes()).equals(all.subarray(0, bytesMax))).toBe(true);
          expect(body.receivedBytes).toBe(all.byteLength);
          expect(body.isTruncated).toBe(all.byteLength > bytesMax);
        },
      ),
    );
  });

  it('is not truncated by exactly its limit', () => {
    const body = new BoundedBody(3);
    body.append(Uint8Array.of(1, 2, 3));
    expect(body.isTruncated).toBe(false);
    body.append(Uint8Array.of(4));
    expect(body.isTruncated).toBe(true);
    expect([...body.bytes()]).toEqual([1, 2, 3]);
  });

  it('gives away a copy, so that later chunks do not change it', () => {
    const body = new BoundedBody(10);
    body.append(Uint8Array.of(1));
    const before = body.bytes();
    body.append(Uint8Array.of(2));
    expect([...before]).toEqual([1]);
  });
});
