import { describe, expect, it } from '@jest/globals';
import { SQLITE_DIALECT } from '../dialect.js';
import type { Dialect } from '../dialect.js';
import type { Expectation } from '../unit.js';
import { conditionOf } from './condition.js';

const NOW = '2031-01-01T00:00:00.000Z';
const condition = (where: Record<string, Expectation>) => conditionOf('runs', where, NOW);

describe('a condition on a row', () => {
  it.each<[string, Expectation, string, unknown[]]>([
    ['a text', 'x', 'label = ?', ['x']],
    ['null', null, 'label IS NULL', []],
    ['one of some', { oneOf: ['x', 'y'] }, 'label IN (?, ?)', ['x', 'y']],
    ['later than now', { clock: 'after_now' }, 'label > ?', [NOW]],
    ['now or earlier', { clock: 'not_after_now' }, 'label <= ?', [NOW]],
    ['the text of a clock word', 'after_now', 'label = ?', ['after_now']],
  ])('for %s is SQL with parameters', (_, expected, sql, values) => {
    const built = condition({ label: expected });
    expect(built.sql(SQLITE_DIALECT, 1)).toBe(sql);
    expect(built.values).toEqual(values);
  });

  it('joins columns with AND and numbers their parameters', () => {
    const numbered: Dialect = { ...SQLITE_DIALECT, parameter: (n) => `$${n}` };
    const built = condition({ run_id: 'r', status: { oneOf: ['running', 'stopping'] }, label: null, version: 3 });
    expect(built.sql(numbered, 5)).toBe('run_id = $5 AND status IN ($6, $7) AND label IS NULL AND version = $8');
    expect(built.values).toEqual(['r', 'running', 'stopping', 3]);
  });

  it('has the same shape exactly when it has the same SQL', () => {
    const shape = (where: Record<string, Expectation>): string => condition(where).shape;
    expect(shape({ label: 'a' })).toBe(shape({ label: 'b' }));
    expect(shape({ label: { oneOf: ['a'] } })).toBe(shape({ label: { oneOf: ['b'] } }));
    const others: Record<string, Expectation>[] = [
      { label: 'a' },
      { label: null },
      { label: { oneOf: ['a'] } },
      { label: { oneOf: ['a', 'b'] } },
      { label: { clock: 'after_now' } },
      { label: { clock: 'not_after_now' } },
      { principal: 'a' },
      { label: 'a', principal: 'a' },
    ];
    expect(new Set(others.map(shape)).size).toBe(others.length);
  });

  it('refuses an unknown column without repeating it, no column, and one of nothing', () => {
    expect(() => condition({ '1=1; --': 'x' })).toThrow('table runs has no column that was named');
    expect(() => condition({ toString: 'x' })).toThrow('table runs has no column toString');
    expect(() => condition({})).toThrow('names no column');
    expect(() => condition({ label: { oneOf: [] } })).toThrow('one of nothing');
  });

  it('refuses a value that the column cannot hold', () => {
    expect(() => condition({ version: 'one' })).toThrow('column version of runs cannot hold this string');
    expect(() => condition({ label: 7 })).toThrow('column label of runs cannot hold this number');
    expect(() => condition({ label: { oneOf: ['\ud800'] } })).toThrow('cannot hold this string');
    expect(() => condition({ version: 0.5 })).toThrow('cannot hold this number');
  });
});
