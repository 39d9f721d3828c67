import { describe, expect, it } from '@jest/globals';
import { logBytes } from '../../../../test/builders/log-bytes.js';
import { announceMissingZstd, FRAMED_CODECS, lacksZstd } from '../../../../test/builders/log-codecs.js';
import { deltaRow, groupRows, mixedRows, noticeRow, sessionKey } from '../../../../test/builders/session-rows.js';
import { framed } from './log-pieces.js';
import { scanBytes, type ScannedLog } from './log-scan.js';
import { lineSeed, sealedLine } from './sealed-line.js';

const KEY = sessionKey('s-1');
const LINE_FEED = 0x0a;
const MAGIC = { gzip: [0x1f, 0x8b, 8, 4], zstd: [0x50, 0x2a, 0x4d, 0x18] } as const;

announceMissingZstd('logs of zstd frames');

const scanned = (bytes: Buffer): ScannedLog => {
  const found = scanBytes(bytes, KEY);
  if (found === null) throw new Error('no log');
  return found;
};
const codeOf = (bytes: Buffer, key = KEY): unknown => {
  try {
    scanBytes(bytes, key);
    return null;
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
};
const seqsOf = ({ rows }: ScannedLog): number[] => rows.map(({ seq }) => seq);
const linesOf = (bytes: Buffer): string[] => bytes.toString().split('\n').slice(0, -1);
const fileOf = (lines: readonly string[]): Buffer => Buffer.from(lines.map((line) => `${line}\n`).join(''));
const promised = (rows = mixedRows(0, 12)) => logBytes(KEY, [{ rows, barrier: true }]);

describe('A plain log', () => {
  it('gives back every row, and where it ends', async () => {
    const rows = mixedRows(0, 30);
    const { bytes } = await promised(rows);
    const found = scanned(bytes);
    expect(found.rows).toEqual(rows);
    expect(found).toMatchObject({ nextSeq: 30, barrierSeq: 29, barrierEnd: bytes.length, codec: 'none' });
    expect(found).not.toHaveProperty('torn');
  });

  it('cut at every byte of its last line is torn where that line begins, and whole before it [D-61]', async () => {
    const { bytes, ends } = await logBytes(KEY, [
      { rows: mixedRows(0, 5), barrier: true },
      { rows: [noticeRow(5)], barrier: false },
    ]);
    const start = ends[1] ?? 0;
    for (let length = start + 1; length < bytes.length - 1; length += 1) {
      const found = scanned(bytes.subarray(0, length));
      expect(found.torn).toEqual({ offset: start, recovered: [] });
      expect(seqsOf(found)).toEqual([0, 1, 2, 3, 4]);
    }
    expect(scanned(bytes.subarray(0, start)).torn).toBeUndefined();
    const withoutEnd = scanned(bytes.subarray(0, bytes.length - 1));
    expect(withoutEnd.torn).toEqual({ offset: start, recovered: [noticeRow(5)] });
    expect(seqsOf(withoutEnd)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('cut inside its last group is torn where the group begins [P-36, U-42]', async () => {
    const { bytes, ends } = await logBytes(KEY, [
      { rows: [noticeRow(0)], barrier: true },
      { rows: groupRows(1, 3), barrier: false },
    ]);
    const start = ends[1] ?? 0;
    for (let length = start + 1; length < bytes.length - 1; length += 1) {
      expect(scanned(bytes.subarray(0, length)).torn).toEqual({ offset: start, recovered: [] });
      expect(seqsOf(scanned(bytes.subarray(0, length)))).toEqual([0]);
    }
    expect(seqsOf(scanned(bytes))).toEqual([0, 1, 2, 3]);
  });

  it('with a damaged line before others is corrupt and never merely shorter [D-67, K03, P-29]', async () => {
    const lines = linesOf(
      (await logBytes(KEY, [{ rows: Array.from({ length: 100 }, (_, n) => noticeRow(n)), barrier: false }])).bytes,
    );
    const halved = [...lines];
    halved[50] = (lines[50] ?? '').slice(0, 20);
    expect(codeOf(fileOf(halved))).toBe('session_log_corrupt');
    expect(codeOf(fileOf(lines.toSpliced(50, 1)))).toBe('session_log_corrupt');
    expect(codeOf(fileOf(lines.toSpliced(50, 0, lines[50] ?? '')))).toBe('session_log_corrupt');
    expect(codeOf(fileOf(lines.with(50, lines[51] ?? '').with(51, lines[50] ?? '')))).toBe('session_log_corrupt');
  });

  it('says where it is damaged and nothing of what it holds', async () => {
    const lines = linesOf((await promised()).bytes);
    lines[2] = (lines[2] ?? '').replace('row', 'rov');
    expect(() => scanBytes(fileOf(lines), KEY)).toThrow(/^a damaged line at row 1, byte \d+$/);
  });

  it('takes a damaged last line as torn unless a promise stands behind it or in it', async () => {
    const { bytes } = await logBytes(KEY, [
      { rows: [noticeRow(0)], barrier: true },
      { rows: [noticeRow(1), noticeRow(2)], barrier: false },
    ]);
    const page = Buffer.from(bytes);
    page.writeUInt8(0, bytes.length - 40);
    expect(seqsOf(scanned(page))).toEqual([0, 1]);
    const welded = Buffer.from((await logBytes(KEY, [{ rows: [noticeRow(0), noticeRow(1)], barrier: true }])).bytes);
    welded.writeUInt8(0x20, welded.lastIndexOf(LINE_FEED, welded.length - 2));
    expect(codeOf(welded)).toBe('session_log_corrupt');
    expect(codeOf(welded.subarray(0, -1))).toBe('session_log_corrupt');
  });

  it('without rows that a barrier promises is corrupt [U-08]', async () => {
    const lines = linesOf((await promised()).bytes);
    expect(codeOf(fileOf(lines.toSpliced(-2, 1)))).toBe('session_log_corrupt');
  });

  it('of another session is refused, and so is a line of another session', async () => {
    const other = sessionKey('s-2');
    const { bytes } = await promised();
    expect(codeOf(bytes, other)).toBe('session_identity_mismatch');
    expect(codeOf(bytes, sessionKey('s-1', 'other'))).toBe('session_identity_mismatch');
    const foreign = linesOf((await logBytes(other, [{ rows: mixedRows(0, 12), barrier: true }])).bytes);
    const lines = linesOf(bytes);
    expect(codeOf(fileOf(lines.with(4, foreign[4] ?? '')))).toBe('session_log_corrupt');
  });

  it('of a newer program is unsupported, whether its seal is right or not [D-56, M05, U-09]', async () => {
    const [header = '', ...rest] = linesOf((await promised()).bytes);
    const newer = header.replace('"formatVersion":1', '"formatVersion":999');
    const unsealed = newer.replace(/,"c":"[0-9a-f]+"/, '');
    const sealed = sealedLine(0, unsealed).trimEnd();
    const unknownCodec = sealedLine(0, unsealed.replace('999', '1').replace('"none"', '"lz9"')).trimEnd();
    for (const first of [newer, sealed, unknownCodec]) {
      expect(codeOf(fileOf([first, ...rest]))).toBe('session_format_unsupported');
    }
  });

  it('with a kind of row it does not know is unsupported, not damaged [U-09]', async () => {
    const { bytes } = await logBytes(KEY, [{ rows: [noticeRow(0)], barrier: false }]);
    const row = Buffer.from(sealedLine(lineSeed(KEY), '{"k":"x","seq":1}'));
    expect(codeOf(Buffer.concat([bytes, row]))).toBe('session_format_unsupported');
  });

  it('is split at line feeds and at nothing else [K05]', async () => {
    const payload = { messageId: 'm', text: 'a\u2028b\u2029c\u0085d\r', about: 'x' };
    const rows = [noticeRow(0, { payload }), deltaRow(1), noticeRow(2)];
    expect(scanned((await promised(rows)).bytes).rows).toEqual(rows);
  });

  it('is none where a header was begun and not finished, and damaged where anything else stands there [K09]', async () => {
    const { bytes, ends } = await promised();
    for (let length = 0; length < (ends[0] ?? 0); length += 1) {
      expect(scanBytes(bytes.subarray(0, length), KEY)).toBeNull();
    }
    for (const noise of ['x', '{"k":"e"', '\n', 'noise\nnoise\n', '\u0000\u0000\u0000']) {
      expect(codeOf(Buffer.from(noise))).toBe('session_log_corrupt');
    }
  });

  it('compressed with zstd by another program is unsupported [U-40]', () => {
    expect(codeOf(Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0]))).toBe('session_format_unsupported');
  });

  (lacksZstd ? it : it.skip)('compressed with zstd is unsupported by a runtime without it [U-40]', () => {
    expect(codeOf(Buffer.from([0x50, 0x2a, 0x4d, 0x18, 12, 0, 0, 0]))).toBe('session_format_unsupported');
  });

  it('is read from the middle on where an earlier scan has been', async () => {
    const rows = mixedRows(0, 40);
    const { bytes } = await promised(rows);
    const first = scanBytes(bytes, KEY, { fromSeq: 0, limit: 20 });
    if (first === null) throw new Error('no log');
    expect(first.place.nextSeq).toBeGreaterThan(10);
    expect(seqsOf(first).slice(0, 20)).toEqual(rows.slice(0, 20).map(({ seq }) => seq));
  });
});

describe.each(FRAMED_CODECS)('A log of %s frames', (codec) => {
  it('begins with the magic of its codec, and a flipped byte in a whole frame is damage [D-37, D-63]', async () => {
    const { bytes, ends } = await logBytes(KEY, [{ rows: mixedRows(0, 12), barrier: false }], codec);
    expect(bytes.subarray(0, 4)).toEqual(Buffer.from(MAGIC[codec]));
    for (let at = ends[0] ?? 0; at < bytes.length; at += 1) {
      const flipped = Buffer.from(bytes);
      flipped.writeUInt8(flipped.readUInt8(at) ^ 1, at);
      expect(codeOf(flipped)).toBe('session_log_corrupt');
    }
  });

  it('cut at every byte of its last frame gives the whole records of it, torn where the frame begins [D-62]', async () => {
    const rows = Array.from({ length: 12 }, (_, n) =>
      noticeRow(n + 3, { payload: { noise: `${n * 7919}`.repeat(9) } }),
    );
    const { bytes, ends } = await logBytes(
      KEY,
      [
        { rows: mixedRows(0, 3), barrier: true },
        { rows, barrier: false },
      ],
      codec,
    );
    const start = ends[1] ?? 0;
    const counts = new Set<number>();
    for (let length = start + 1; length < bytes.length; length += 1) {
      const found = scanned(bytes.subarray(0, length));
      expect(found.torn?.offset).toBe(start);
      expect(found.rows).toEqual([...mixedRows(0, 3), ...rows].slice(0, found.rows.length));
      expect(found.rows.slice(3)).toEqual(found.torn?.recovered);
      counts.add(found.rows.length);
    }
    // zstd gives whole blocks: of a frame this short everything, or nothing.
    expect(counts.size).toBeGreaterThan(codec === 'gzip' ? 5 : 1);
    expect(Math.max(...counts)).toBe(15);
  });

  it('with half a record in a whole frame is corrupt', async () => {
    const whole = await logBytes(KEY, [{ rows: mixedRows(0, 3), barrier: false }], codec);
    const line = sealedLine(lineSeed(KEY), '{"k":"b","upTo":2}');
    const half = await framed(Buffer.from(line.slice(0, -4)), codec);
    expect(codeOf(Buffer.concat([whole.bytes, half]))).toBe('session_log_corrupt');
    const good = await framed(Buffer.from(line), codec);
    expect(scanned(Buffer.concat([whole.bytes, good])).barrierSeq).toBe(2);
  });

  it('is none where the frame of its header was begun and not finished', async () => {
    const { bytes, ends } = await logBytes(KEY, [], codec);
    for (let length = 2; length < (ends[0] ?? 0); length += 1) {
      expect(scanBytes(bytes.subarray(0, length), KEY)).toBeNull();
    }
    expect(codeOf(Buffer.from([...MAGIC[codec].slice(0, 2), 9, 9, 9]))).toBe('session_log_corrupt');
  });
});
