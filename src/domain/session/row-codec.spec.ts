import { describe, expect, it } from '@jest/globals';
import { deltaRow, groupRows, mirrorRow, mixedRows, noticeRow } from '../../../test/builders/session-rows.js';
import { decodeRow, encodeRow, payloadDigest, rowEncoder } from './row-codec.js';

const FULL = noticeRow(7, {
  runId: 'run-1',
  turnId: 'turn "1"',
  stepId: 'step-1',
  toolCallId: 'call-1',
  reasoningObjectId: 'r-1',
  skillId: 'sk-1',
  causationId: 'cause-1',
  synthetic: true,
  ignorable: true,
  groupId: 'g-1',
  groupIndex: 1,
  groupSize: 3,
  payload: { text: 'a\u0000b\u2028c\nd', z: 1, a: [null, { b: true }] },
});

describe('The text of a row', () => {
  it.each([['a full event', FULL], ['a small event', noticeRow(0)], ['a mirror', mirrorRow(3, 12)]])(
    'of %s is one line that says everything it says',
    (_, row) => {
      const text = encodeRow(row);
      expect(text).not.toMatch(/[\n\r\0]/);
      const decoded = decodeRow(text);
      expect(decoded).toMatchObject({ ok: true, row });
      expect(decoded.ok && Object.keys(decoded.row).sort()).toEqual(Object.keys(row).sort());
    },
  );

  it('carries the digest of the canonical payload', () => {
    const decoded = decodeRow(encodeRow(FULL));
    expect(decoded.ok && decoded.payloadDigest).toBe(payloadDigest({ a: [null, { b: true }], z: 1, text: FULL.payload['text'] ?? null }));
  });

  it('is the same whether it was made alone or after any other row', () => {
    const encode = rowEncoder();
    const others = [FULL, deltaRow(1), deltaRow(2, { stepId: 'step-2' }), deltaRow(3, { turnId: 'turn-2' }), mirrorRow(4, 1)];
    const rows = [...mixedRows(0, 30), ...others, ...groupRows(0, 2), noticeRow(9, { schemaVersion: 2 })];
    for (const row of [...rows, ...rows.toReversed()]) expect(encode(row)).toBe(encodeRow(row));
  });

  it.each([
    ['nothing', ''],
    ['half a row', encodeRow(FULL).slice(0, 40)],
    ['a list', '[]'],
    ['no kind', '{}'],
    ['a number that is none', encodeRow(FULL).replace('"seq":7', '"seq":"7"')],
    ['no digest', encodeRow(FULL).replace('"payloadDigest"', '"digest"')],
    ['a group without a size', encodeRow(FULL).replace(',"groupSize":3', '')],
    ['an index beyond its group', encodeRow(FULL).replace('"groupSize":3', '"groupSize":1')],
    ['a mirror of another event', encodeRow(mirrorRow(3, 1)).replace('"eventId":"0190', '"eventId":"9190')],
  ])('is malformed with %s', (_, text) => {
    expect(decodeRow(text)).toEqual({ ok: false, problem: 'malformed' });
  });

  it('of a kind that a newer program writes is unknown and not malformed', () => {
    expect(decodeRow('{"k":"z","seq":1}')).toEqual({ ok: false, problem: 'unknown_kind' });
  });
});
