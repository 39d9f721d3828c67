import { describe, expect, it } from '@jest/globals';
import { deltaRow, groupRows, mirrorRow, mixedRows, noticeRow } from '../../../test/builders/session-rows.js';
import { decodeRow, encodeRow, rowEncoder } from './row-codec.js';

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

describe('An encoder of rows', () => {
  it('makes the same text whether a row comes alone or after any other', () => {
    const encode = rowEncoder();
    const others = [
      FULL,
      deltaRow(1),
      deltaRow(2, { stepId: 'step-2' }),
      deltaRow(3, { turnId: 'turn-2' }),
      mirrorRow(4, 1),
    ];
    const rows = [...mixedRows(0, 30), ...others, ...groupRows(0, 2), noticeRow(9, { schemaVersion: 2 })];
    for (const row of [...rows, ...rows.toReversed()]) expect(encode(row)).toBe(encodeRow(row));
  });

  it('makes one line that says everything the row says', () => {
    const encode = rowEncoder();
    for (const row of [FULL, noticeRow(0), mirrorRow(3, 12)]) {
      const text = encode(row);
      expect(text).not.toMatch(/[\n\r\0]/);
      expect(decodeRow(text)).toMatchObject({ ok: true, row });
    }
  });
});
