import { inflateRawSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { containerPieces, readContainer, writeContainer } from './container.js';
import { crc32 } from './crc32.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const some = new Map([
  ['b.txt', bytes('second')],
  ['a/long-name.json', bytes('{}')],
  ['empty', new Uint8Array(0)],
]);

describe('the checksum of a container', () => {
  it.each([
    ['', 0],
    ['123456789', 0xcbf43926],
    ['The quick brown fox jumps over the lazy dog', 0x414fa339],
  ])('of %j is the one that every zip program computes', (text, expected) => {
    expect(crc32(bytes(text))).toBe(expected);
  });
});

describe('the container of a bundle', () => {
  const names = fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,9}(?:\/[a-z0-9][a-z0-9._-]{0,9})?$/);
  const maps = fc
    .array(fc.tuple(names, fc.uint8Array({ maxLength: 50 })), { maxLength: 6 })
    .map((list) => new Map(list));

  it('gives back its parts, and is one and the same whatever their order', () => {
    fc.assert(
      fc.property(maps, (parts) => {
        const read = readContainer(writeContainer(parts));
        if (!read.ok) throw new Error(read.problem);
        expect(read.differsAt).toBeNull();
        expect([...read.parts.keys()]).toEqual([...parts.keys()].sort());
        for (const [name, content] of parts) expect([...(read.parts.get(name) ?? [0])]).toEqual([...content]);
        const reversed = new Map([...parts].reverse());
        expect(Buffer.compare(writeContainer(reversed), writeContainer(parts))).toBe(0);
      }),
    );
  });

  it('is a zip as other programs read it: stored, at its offset, with its checksum', () => {
    const zip = Buffer.from(writeContainer(some));
    expect(zip.readUInt32LE(0)).toBe(0x04034b50);
    expect([zip.readUInt16LE(8), zip.readUInt32LE(14)]).toEqual([0, crc32(bytes('{}'))]);
    expect(zip.subarray(30, 46).toString()).toBe('a/long-name.json');
    expect(() => inflateRawSync(zip.subarray(46, 48))).toThrow();
  });

  it('differs in every byte that is changed', () => {
    const zip = writeContainer(some);
    for (let at = 0; at < zip.length; at += 1) {
      const changed = Uint8Array.from(zip);
      changed[at] = (changed[at] as number) ^ 0x20;
      const read = readContainer(changed);
      expect(read.ok ? read.differsAt : 'unreadable').not.toBeNull();
    }
  });

  it('comes in pieces, so that it can be streamed', () => {
    expect(Buffer.compare(Buffer.concat([...containerPieces(some)]), writeContainer(some))).toBe(0);
  });

  it.each(['', '/a', 'a/', 'a//b', '../a', 'A', 'ä', 'a b', '.a', 'a/.b'])('has no part named %j', (name) => {
    expect(() => writeContainer(new Map([[name, bytes('x')]]))).toThrow('not the parts of a bundle');
  });

  it.each([
    ['nothing', new Uint8Array(0)],
    ['a comment at the end', Uint8Array.of(...writeContainer(some), 1)],
    ['its beginning only', writeContainer(some).subarray(0, 60)],
  ])('is not %s', (_, data) => {
    expect(readContainer(data)).toMatchObject({ ok: false });
  });

  it('has no parts that overlap, so reading costs no more than its size', () => {
    const zip = Buffer.from(writeContainer(new Map([1, 2, 3].map((n) => [`part-${n}`, bytes('x'.repeat(90))]))));
    const directory = zip.readUInt32LE(zip.length - 6);
    for (let n = 0; n < 3; n += 1) {
      zip.writeUInt32LE(250, directory + n * 52 + 24);
      zip.writeUInt32LE(0, directory + n * 52 + 42);
    }
    expect(readContainer(zip)).toEqual({ ok: false, problem: 'parts that overlap' });
    zip.writeUInt16LE(0xffff, zip.length - 12);
    expect(readContainer(zip)).toEqual({ ok: false, problem: 'too many parts' });
  });
});
