import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import { deltaRow, groupRows, noticeRow } from '../../../../test/builders/session-rows.js';
import type { SessionEvent } from '../../../domain/session/session-row.js';
import { packedLength, packedText, unpackedDeltas } from './packed-deltas.js';

const packed = (rows: readonly SessionEvent[]) => unpackedDeltas(packedText(rows, 0, packedLength(rows, 0)));

describe('Packed deltas', () => {
  it('come back with every number, id, time and text they had [U-34]', () => {
    const delta = fc.record({ text: fc.string({ unit: 'binary' }), occurredAt: fc.string(), recordedAt: fc.string() });
    fc.assert(
      fc.property(fc.array(delta, { minLength: 2, maxLength: 30 }), fc.boolean(), (parts, isSynthetic) => {
        const rows = parts.map(({ text, ...times }, seq) =>
          deltaRow(seq, {
            ...times,
            ...(isSynthetic ? { synthetic: true as const } : {}),
            payload: { messageId: 'm', index: seq * 2, text },
          }),
        );
        expect(packedLength(rows, 0)).toBe(rows.length);
        expect(packed(rows)).toEqual(rows);
      }),
      { numRuns: 100 },
    );
  });

  it.each<[string, SessionEvent]>([
    ['another message', deltaRow(1, { payload: { messageId: 'm-2', index: 1, text: '' } })],
    ['another step', deltaRow(1, { stepId: 'step-2' })],
    ['another cause', deltaRow(1, { causationId: 'e-1' })],
    ['a field more', deltaRow(1, { payload: { messageId: 'm-1', index: 1, text: '', more: true } })],
    ['an index that is no integer', deltaRow(1, { payload: { messageId: 'm-1', index: 0.5, text: '' } })],
    ['another type', noticeRow(1)],
    ['a group', { ...deltaRow(1), groupId: 'g', groupIndex: 0, groupSize: 1 }],
  ])('end before a row with %s', (_, next) => {
    expect(packedLength([deltaRow(0), next], 0)).toBe(1);
    expect(packedLength([next, deltaRow(2)], 0)).toBe(1);
  });

  it('never take a row out of its group', () => {
    expect(packedLength(groupRows(0, 3), 0)).toBe(1);
  });

  it('are bounded in number and in length', () => {
    expect(
      packedLength(
        Array.from({ length: 1000 }, (_, seq) => deltaRow(seq)),
        0,
      ),
    ).toBe(256);
    const long = (seq: number) =>
      deltaRow(seq, { payload: { messageId: 'm-1', index: seq, text: 'x'.repeat(20_000) } });
    expect(packedLength([long(0), long(1), long(2)], 0)).toBe(1);
  });

  it.each([
    '{}',
    '{"k":"p","seq":0,"shared":{},"messageId":"m","items":[]}',
    '{"k":"p","seq":0,"shared":null,"messageId":"m","items":[["e",0,"t","a","b"]]}',
    '{"k":"p","seq":0,"shared":{},"messageId":"m","items":[["e",0,"t"]]}',
    '{"k":"p","seq":0,"shared":{},"messageId":"m","items":[["e",0.5,"t","a","b"]]}',
    '{"k":"p","seq":0,"shared":{},"messageId":"m","items":[["e",0,"t","a"]]}',
    '{"k":"p","seq":"0","shared":{},"messageId":"m","items":[["e",0,"t","a","b"]]}',
  ])('are not made up from %s', (text) => {
    expect(unpackedDeltas(text)).toBeNull();
  });
});
