const BATCH = 100;

/** Rows of one kind that one pass looks at, so that a flood of them does not hold up the other chores of the sweep. */
const ROWS_MAX = 2000;

export interface RowSweep<Row> {
  /** What is due now, the longest due first. */
  read(limit: number): Promise<readonly Row[]>;
  idOf(row: Row): string;
  /** Looks after one row; answers false, having said why, when that failed. What it throws is a failure of the whole pass. */
  look(row: Row): Promise<boolean>;
}

/**
 * Looks after everything that is due, one row by itself. Rows that cannot be looked after stay due and stay at the front
 * of the list, however many they are: the list is read past them. Answers how many they are.
 */
export async function sweepRows<Row>({ read, idOf, look }: RowSweep<Row>): Promise<number> {
  const seen = new Set<string>();
  let failed = 0;
  let limit = BATCH;
  while (seen.size < ROWS_MAX) {
    const rows = await read(limit);
    const fresh = rows.filter((row) => !seen.has(idOf(row)));
    for (const row of fresh) {
      seen.add(idOf(row));
      if (!(await look(row))) failed += 1;
    }
    if (rows.length < limit) return failed;
    // What is still there although it was looked after is read past, too.
    limit = BATCH + rows.length - fresh.length + failed;
  }
  return failed;
}
