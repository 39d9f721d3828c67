import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { GuardFailed } from '../../storage/unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { Logger, errorName, type LogFields } from '../../system/logger.js';
import { after, type Timer } from '../../system/timers.js';
import { Reconciliation } from './reconciliation.js';

const BATCH = 32;
/** Pause after a pass in which something failed: a store that is down is not asked a thousand times a second. */
const AFTER_FAILURE_MS = 1000;
/** Shortest pause while look-ups are under way. */
const WHILE_BUSY_MS = 250;

/**
 * Looks after calls whose result is unknown: when their time has come, one step each, isolated from one another. A call
 * that is being looked at is not looked at twice.
 */
@Injectable()
export class Reconciler {
  private readonly busy = new Map<string, Promise<void>>();
  private timer: Timer | null = null;
  private stopListening: () => void = () => {};
  private running = false;
  private failed = false;

  constructor(
    private readonly desk: UnitDesk,
    private readonly settings: Settings,
    private readonly logger: Logger,
    private readonly reconciliation: Reconciliation,
  ) {}

  start(): void {
    this.running = true;
    this.stopListening = this.desk.feed.subscribe('reconciler', ({ unit }) => {
      if (unit.writes.some((write) => write.table === 'work' && write.op === 'put' && write.row.kind === 'reconcile')) {
        void this.arm();
      }
    });
    void this.arm();
  }

  async stop(): Promise<void> {
    this.running = false;
    this.stopListening();
    this.timer?.cancel();
    await Promise.all(this.busy.values());
  }

  /** Takes one step for everything that is due now; answers when these steps are done. */
  async tick(): Promise<void> {
    await this.begin();
    await Promise.all(this.busy.values());
  }

  private async begin(): Promise<void> {
    const due = await this.desk.read.dueWork('reconcile', this.desk.now(), BATCH + this.busy.size);
    for (const work of due) if (!this.busy.has(work.tool_call_id)) this.look(work);
  }

  /** Wakes at the earliest due time, and at least as often as the sweep: a lost wake-up costs no more than that. */
  private async arm(): Promise<void> {
    if (!this.running) return;
    const nextAt = await this.desk.read.nextWorkAt('reconcile').catch(() => null);
    if (!this.running) return;
    const { sweepIntervalMs } = this.settings.execution;
    const untilMs = nextAt === null ? sweepIntervalMs : Date.parse(nextAt) - this.desk.clock.now();
    this.timer?.cancel();
    // What is being looked at is still due in the store; its end wakes us, so the timer need not insist.
    const atLeastMs = this.failed ? AFTER_FAILURE_MS : this.busy.size > 0 ? WHILE_BUSY_MS : 1;
    this.timer = after(Math.min(Math.max(untilMs, atLeastMs), sweepIntervalMs), () => void this.wake());
  }

  private async wake(): Promise<void> {
    this.failed = false;
    await this.begin().catch((error: unknown) => this.noteFailure('reconciliation pass failed', {}, error));
    await this.arm();
  }

  private noteFailure(message: string, fields: LogFields, error: unknown): void {
    this.failed = true;
    this.logger.error(message, { ...fields, error: errorName(error) });
  }

  private look(work: TableRow<'work'>): void {
    const looking = this.reconciliation
      .step(work.tenant, work.tool_call_id)
      .catch((error: unknown) => {
        if (error instanceof GuardFailed) return;
        this.noteFailure('reconciliation of a call failed', { toolCallId: work.tool_call_id }, error);
      })
      .finally(() => {
        this.busy.delete(work.tool_call_id);
        void this.arm();
      });
    this.busy.set(work.tool_call_id, looking);
  }
}
