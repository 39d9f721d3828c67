import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { changedColumns } from './changed-columns.js';

describe('the changed columns of a row', () => {
  it('are those that make the row before into the row after, and no others', () => {
    const value = fc.oneof(fc.integer({ max: 3, min: 0 }), fc.constantFrom('a', 'b'), fc.constant(null));
    const row = fc.record({ a: value, b: value, c: value, d: value });
    fc.assert(
      fc.property(row, row, (before, after) => {
        const changed = changedColumns(before, after);
        expect({ ...before, ...changed }).toEqual(after);
        for (const [column, now] of Object.entries(changed)) expect(now).not.toBe(before[column as 'a']);
      }),
    );
  });
});
