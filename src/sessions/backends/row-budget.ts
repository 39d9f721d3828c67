/**
 * How many rows may be on their way to a medium at once, as text: who would exceed it waits, first come first served. One that is
 * larger than everything there is goes alone.
 */
export class RowBudget {
  private used = 0;
  private readonly waiting: { readonly rows: number; readonly go: () => void }[] = [];

  constructor(private readonly rowsMax: number) {}

  /** Resolves when the rows may go; `give` the same number back. */
  async take(rows: number): Promise<void> {
    if (this.waiting.length === 0 && this.fits(rows)) {
      this.used += rows;
      return;
    }
    await new Promise<void>((go) => this.waiting.push({ rows, go }));
  }

  give(rows: number): void {
    this.used -= rows;
    for (let next = this.waiting[0]; next !== undefined && this.fits(next.rows); next = this.waiting[0]) {
      this.waiting.shift();
      this.used += next.rows;
      next.go();
    }
  }

  private fits(rows: number): boolean {
    return this.used === 0 || this.used + rows <= this.rowsMax;
  }
}
