import { describe, expect, it } from '@jest/globals';
import { eventIdOf, groupRows, mixedRows, mirrorRow, noticeRow } from '../../../test/builders/session-rows.js';
import { GroupProgress } from './group-progress.js';
import { assertWholeBatch, rowsAfter } from './whole-batch.js';

const [first, second, third] = groupRows(1, 3);
const group = [first, second, third].filter((row) => row !== undefined);

describe('A batch', () => {
  it('is whole with rows one after the other and groups from their first to their last', () => {
    for (const rows of [[], mixedRows(0, 30), group, [noticeRow(0), ...group, mirrorRow(4, 9)]]) {
      expect(() => assertWholeBatch(rows)).not.toThrow();
    }
  });

  it('with a gap is a conflict [D-19]', () => {
    const refused = expect.objectContaining({ code: 'seq_conflict' });
    expect(() => assertWholeBatch([noticeRow(0), noticeRow(2)])).toThrow(refused);
    expect(() => assertWholeBatch([noticeRow(1), noticeRow(0)])).toThrow(refused);
  });

  it.each([
    ['begins inside a group', group.slice(1)],
    ['ends inside a group', group.slice(0, 2)],
    ['has a group with a hole', [...group.slice(0, 1), noticeRow(2), noticeRow(3)]],
  ])('that %s breaks the contract [P-36]', (_, rows) => {
    expect(() => assertWholeBatch(rows)).toThrow('a batch holds whole groups');
  });

  it('is written from the first row on that is not stored [D-30]', () => {
    const rows = [noticeRow(3), noticeRow(4), noticeRow(5)];
    expect(rowsAfter(3, rows, [])).toEqual(rows);
    expect(rowsAfter(5, rows, rows.slice(0, 2))).toEqual([noticeRow(5)]);
    expect(rowsAfter(6, rows, rows)).toEqual([]);
    expect(rowsAfter(9, rows, rows)).toEqual([]);
    expect(rowsAfter(9, [], [])).toEqual([]);
  });

  it('conflicts with another event under its number, and with a log that ends before it', () => {
    const refused = expect.objectContaining({ code: 'seq_conflict' });
    const other = noticeRow(3, { eventId: eventIdOf(3, 1) });
    expect(() => rowsAfter(4, [noticeRow(3), noticeRow(4)], [other])).toThrow(refused);
    expect(() => rowsAfter(4, [noticeRow(3)], [])).toThrow(refused);
    expect(() => rowsAfter(2, [noticeRow(3)], [])).toThrow(refused);
  });
});

describe('The groups of a log', () => {
  const progress = (rows: readonly Parameters<GroupProgress['take']>[0][]): [boolean, number | null] => {
    const groups = new GroupProgress();
    return [rows.every((row) => groups.take(row)), groups.openFrom];
  };

  it('are open from their first row to the one before their last', () => {
    expect(progress([noticeRow(0), ...group.slice(0, 1)])).toEqual([true, 1]);
    expect(progress([noticeRow(0), ...group.slice(0, 2)])).toEqual([true, 1]);
    expect(progress([noticeRow(0), ...group])).toEqual([true, null]);
    expect(progress([...groupRows(0, 1), noticeRow(1)])).toEqual([true, null]);
  });

  it.each([
    ['a row of no group', [...group.slice(0, 1), noticeRow(2)]],
    ['a mirror', [...group.slice(0, 1), mirrorRow(2, 0)]],
    ['another group', [...group.slice(0, 1), ...groupRows(2, 2)]],
    ['a beginning that is none', group.slice(1)],
    ['a size that changes', [...group.slice(0, 1), noticeRow(2, { groupId: 'group-1', groupIndex: 1, groupSize: 4 })]],
  ])('are broken by %s [U-42]', (_, rows) => {
    expect(progress(rows)[0]).toBe(false);
  });
});
