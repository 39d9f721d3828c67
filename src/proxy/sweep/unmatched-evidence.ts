import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { UNMATCHED_COUNTER } from '../../domain/tool-call/late-evidence.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { GuardFailed } from '../../storage/unit.js';
import { COUNTERSIGN, INSTALLATION, UnitDesk } from '../../storage/units/unit-desk.js';
import { Logger, errorName } from '../../system/logger.js';
import { sweepRows } from '../../system/row-sweep.js';

/** What is kept for a month need not be looked at every few seconds: looking means reading all of it. */
const LOOK_EVERY_MS = 3_600_000;

/**
 * Evidence for which no call has turned up in all its time waits no longer, so that what nobody can place does not fill the
 * room for what somebody can. It stays on record, and says why it was never applied.
 */
@Injectable()
export class UnmatchedEvidence {
  private lookedAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly desk: UnitDesk,
    private readonly settings: Settings,
    private readonly logger: Logger,
  ) {}

  /** Answers how many pieces could not be let go. */
  async tick(): Promise<number> {
    const { clock, read } = this.desk;
    if (clock.monotonic() - this.lookedAtMs < LOOK_EVERY_MS) return 0;
    this.lookedAtMs = clock.monotonic();
    if ((await read.counter(INSTALLATION, UNMATCHED_COUNTER)) === 0) return 0;
    const before = new Date(clock.now() - this.settings.callbacks.unmatchedForMs).toISOString();
    return sweepRows<TableRow<'late_results'>>({
      read: (limit) => read.unmatchedBefore(before, limit),
      idOf: (row) => row.late_result_id,
      look: (row) => this.letGo(row),
    });
  }

  private async letGo(row: TableRow<'late_results'>): Promise<boolean> {
    const { late_result_id: id, received_at: receivedAt, tenant } = row;
    try {
      const stream = { kind: 'evidence', id } as const;
      const version = await this.desk.read.streamVersion(stream);
      const draft = this.desk.begin({
        tenant,
        lane: 'govern',
        actor: COUNTERSIGN,
        correlationId: row.capability,
        occurredAt: this.desk.now(),
        causationId: null,
        causeKind: 'timer',
      });
      draft.append(
        stream,
        version,
        [{ type: 'evidence.expired', payload: { reason: 'no_call_known', receivedAt } }],
        {},
      );
      draft.write({
        op: 'set',
        table: 'late_results',
        where: { late_result_id: id, state: 'unmatched' },
        set: { state: 'ignored' },
        guard: 'late_result',
      });
      draft.count({ tenant: INSTALLATION, key: UNMATCHED_COUNTER, add: -1, max: null });
      await this.desk.commit(draft);
      return true;
    } catch (error) {
      if (error instanceof GuardFailed) return true; // its call turned up in the last moment
      this.logger.error('evidence without a call could not be let go', { lateResultId: id, error: errorName(error) });
      return false;
    }
  }
}
