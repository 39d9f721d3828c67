import { Injectable } from '@nestjs/common';
import { LIMIT_KEY_PREFIX } from '../../policy/core/limits.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { Logger, errorName } from '../../system/logger.js';
import { sweepRows } from '../../system/row-sweep.js';

const LOOK_EVERY_MS = 600_000;

/** A decision made in the last moment of a window may still be on its way to the disk. */
const GRACE_MS = 3_600_000;

/** Counters of windows that have ended and that no call may still give back to: nobody will ask for them again. */
@Injectable()
export class EndedWindows {
  private lookedAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly desk: UnitDesk,
    private readonly logger: Logger,
  ) {}

  /** Answers how many counters could not be let go. */
  async tick(): Promise<number> {
    const { clock, read } = this.desk;
    if (clock.monotonic() - this.lookedAtMs < LOOK_EVERY_MS) return 0;
    this.lookedAtMs = clock.monotonic();
    const before = new Date(clock.now() - GRACE_MS).toISOString();
    return sweepRows<TableRow<'counters'>>({
      read: (limit) => read.endedCounters(LIMIT_KEY_PREFIX, before, limit),
      idOf: (row) => `${row.tenant} ${row.counter_key}`,
      look: (row) => this.letGo(row),
    });
  }

  private async letGo({ tenant, counter_key, value }: TableRow<'counters'>): Promise<boolean> {
    const draft = this.desk.beginInstallation('limits');
    draft.write({ op: 'delete', table: 'counters', where: { tenant, counter_key, value } });
    try {
      await this.desk.commit(draft);
      return true;
    } catch (error) {
      this.logger.error('the counter of an ended window could not be let go', { error: errorName(error) });
      return false;
    }
  }
}
