import { describe, expect, it } from '@jest/globals';
import { sweepRows } from './row-sweep.js';

/** Rows that stay due when they cannot be looked after, or when looking after them changes nothing. */
class DueRows {
  readonly looked: number[] = [];
  private due: readonly number[];

  constructor(
    count: number,
    private readonly isBad: (row: number) => boolean,
    private readonly stays: (row: number) => boolean = () => false,
  ) {
    this.due = Array.from({ length: count }, (_, row) => row);
  }

  sweep(): Promise<number> {
    return sweepRows<number>({
      read: async (limit) => this.due.slice(0, limit),
      idOf: String,
      look: async (row) => {
        this.looked.push(row);
        if (this.isBad(row)) return false;
        if (!this.stays(row)) this.due = this.due.filter((other) => other !== row);
        return true;
      },
    });
  }
}

describe('a sweep over rows', () => {
  it('looks after each row once, in order, and answers that none failed', async () => {
    const rows = new DueRows(350, () => false);
    expect(await rows.sweep()).toBe(0);
    expect(rows.looked).toEqual(Array.from({ length: 350 }, (_, row) => row));
  });

  it('reads past any number of rows that cannot be looked after', async () => {
    const rows = new DueRows(700, (row) => row < 450);
    expect(await rows.sweep()).toBe(450);
    expect(rows.looked.toSorted((left, right) => left - right)).toEqual(Array.from({ length: 700 }, (_, row) => row));
  });

  it('ends when what it looked after is still there', async () => {
    const rows = new DueRows(
      300,
      () => false,
      () => true,
    );
    expect(await rows.sweep()).toBe(0);
    expect(rows.looked).toHaveLength(300);
  });

  it('leaves the rest of a flood to the next pass', async () => {
    const rows = new DueRows(5000, () => false);
    await rows.sweep();
    expect(rows.looked.length).toBeGreaterThanOrEqual(2000);
    expect(rows.looked.length).toBeLessThan(2200);
  });
});
