import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { FRAME_HEAD_BYTES, frameLength, frameText, gzipFrame, mayBeginFrame, salvagedText } from './gzip-frame.js';

const TEXT = Buffer.from('a line of text\n'.repeat(40));

describe('A gzip frame', () => {
  it('is a member that every gunzip reads, alone and behind another', async () => {
    const frame = await gzipFrame(TEXT);
    expect(gunzipSync(frame)).toEqual(TEXT);
    expect(gunzipSync(Buffer.concat([frame, frame]))).toEqual(Buffer.concat([TEXT, TEXT]));
  });

  it('says how long it is, and nothing when its head is damaged', async () => {
    const frame = await gzipFrame(TEXT);
    const head = frame.subarray(0, FRAME_HEAD_BYTES);
    expect(frameLength(head)).toBe(frame.length);
    expect(frameText(frame)).toEqual(TEXT);
    for (let at = 0; at < FRAME_HEAD_BYTES; at += 1) {
      const flipped = Buffer.from(head);
      flipped.writeUInt8(flipped.readUInt8(at) ^ 4, at);
      expect(frameLength(flipped)).toBeNull();
      expect(mayBeginFrame(head.subarray(0, at))).toBe(true);
    }
    expect(mayBeginFrame(Buffer.from([0x1f, 0x8c]))).toBe(false);
  });

  it('has no text when any byte behind its head is damaged', async () => {
    const frame = await gzipFrame(TEXT);
    for (let at = FRAME_HEAD_BYTES; at < frame.length; at += 1) {
      const flipped = Buffer.from(frame);
      flipped.writeUInt8(flipped.readUInt8(at) ^ 16, at);
      expect(frameText(flipped)).toBeNull();
    }
  });

  it('gives the beginning of its text where it was cut', async () => {
    const text = Buffer.from(Array.from({ length: 300 }, (_, n) => `line ${n * 7919}\n`).join(''));
    const frame = await gzipFrame(text);
    const part = salvagedText(frame.subarray(0, frame.length / 2));
    expect(part.length).toBeGreaterThan(100);
    expect(text.subarray(0, part.length)).toEqual(part);
    expect(salvagedText(frame.subarray(0, FRAME_HEAD_BYTES))).toEqual(Buffer.alloc(0));
  });
});
