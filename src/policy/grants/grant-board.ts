import type { Feed } from '../../storage/feed.js';
import type { StoreReader } from '../../storage/readers/store-reader.js';

/**
 * How many standing grants are active, so that where there are none nothing is read for them. It only saves reads: a unit
 * that rests on a grant guards the grant itself, and one that a late board does not know of asks people instead.
 */
export class GrantBoard {
  private active = 0;

  constructor(
    private readonly read: StoreReader,
    feed: Feed,
  ) {
    feed.subscribe('grant-board', ({ unit }) => {
      if (!unit.writes.some((write) => write.table === 'grants')) return;
      // One more at once, the exact number when it is read: a grant that was just made must not be overlooked.
      this.active += 1;
      this.reload().catch(() => undefined);
    });
  }

  get isEmpty(): boolean {
    return this.active === 0;
  }

  async reload(): Promise<void> {
    this.active = await this.read.activeGrantCount();
  }
}
