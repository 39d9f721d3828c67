import { describe, expect, it } from '@jest/globals';
import { RowBudget } from './row-budget.js';

describe('a budget of rows', () => {
  it('lets go what fits, in the order of asking, and the rest when there is room again', async () => {
    const budget = new RowBudget(10);
    const gone: string[] = [];
    const ask = (name: string, rows: number) => budget.take(rows).then(() => gone.push(name));
    const asked = [ask('a', 6), ask('b', 4), ask('c', 3), ask('d', 1)];
    await Promise.all(asked.slice(0, 2));
    expect(gone).toEqual(['a', 'b']);
    budget.give(4);
    await Promise.all(asked.slice(2));
    expect(gone).toEqual(['a', 'b', 'c', 'd']);
  });

  it('lets one that is too large go alone, and never overtakes it', async () => {
    const budget = new RowBudget(10);
    const gone: string[] = [];
    await budget.take(1);
    const large = budget.take(50).then(() => gone.push('large'));
    const small = budget.take(1).then(() => gone.push('small'));
    await Promise.resolve();
    expect(gone).toEqual([]);
    budget.give(1);
    await large;
    expect(gone).toEqual(['large']);
    budget.give(50);
    await small;
    expect(gone).toEqual(['large', 'small']);
  });
});
