import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { announceMissingZstd } from '../../../../test/builders/log-codecs.js';
import { GZIP_FRAMES } from './gzip-frame.js';
import { beginsZstd, ZSTD_FRAMES } from './zstd-frame.js';

const TEXT = Buffer.from('a line of text\n'.repeat(40));
/** Hardly to be compressed, so that a frame of it is long. */
const LONG = Buffer.from(Array.from({ length: 30_000 }, (_, n) => `line ${(n * 7919) % 1_000_003}\n`).join(''));
const CODECS = [['gzip', GZIP_FRAMES] as const, ...(ZSTD_FRAMES === null ? [] : [['zstd', ZSTD_FRAMES] as const])];

announceMissingZstd('frames of a log');

describe.each(CODECS)('A frame (%s)', (_, frames) => {
  it('says how long it is, and nothing when its head is damaged', async () => {
    const frame = await frames.frame(TEXT);
    const head = frame.subarray(0, frames.headBytes);
    expect(frame.length).toBeLessThan(TEXT.length / 2);
    expect(frames.length(head)).toBe(frame.length);
    expect(frames.text(frame)).toEqual(TEXT);
    for (let at = 0; at < frames.headBytes; at += 1) {
      const flipped = Buffer.from(head);
      flipped.writeUInt8(flipped.readUInt8(at) ^ 4, at);
      expect(frames.length(flipped)).toBeNull();
      expect(frames.mayBegin(head.subarray(0, at))).toBe(true);
    }
    expect([frames.begins(head), frames.begins(head.subarray(0, 1)), frames.begins(TEXT)]).toEqual([
      true,
      false,
      false,
    ]);
    expect(frames.mayBegin(Buffer.from([head.readUInt8(0), 0x8c]))).toBe(false);
  });

  it('has no text when any byte behind its head is damaged', async () => {
    const frame = await frames.frame(TEXT);
    for (let at = frames.headBytes; at < frame.length; at += 1) {
      const flipped = Buffer.from(frame);
      flipped.writeUInt8(flipped.readUInt8(at) ^ 16, at);
      expect(frames.text(flipped)).toBeNull();
    }
  });

  it('gives the beginning of its text where it was cut [D-62]', async () => {
    const frame = await frames.frame(LONG);
    const part = frames.salvaged(frame.subarray(0, frame.length / 2));
    expect(part.length).toBeGreaterThan(LONG.length / 8);
    expect(LONG.subarray(0, part.length)).toEqual(part);
    expect(frames.salvaged(frame.subarray(0, frames.headBytes))).toEqual(Buffer.alloc(0));
  });
});

describe('A gzip frame', () => {
  it('is a member that every gunzip reads, alone and behind another', async () => {
    const frame = await GZIP_FRAMES.frame(TEXT);
    expect(gunzipSync(frame)).toEqual(TEXT);
    expect(gunzipSync(Buffer.concat([frame, frame]))).toEqual(Buffer.concat([TEXT, TEXT]));
  });
});

describe('A zstd frame', () => {
  it('is known by its beginning, also where it cannot be read', () => {
    expect(beginsZstd(Buffer.from([0x50, 0x2a, 0x4d, 0x18]))).toBe(true);
    expect(beginsZstd(Buffer.from('{"k":"h"'))).toBe(false);
  });
});
