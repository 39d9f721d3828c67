import { Injectable } from '@nestjs/common';
import { CapabilityRegistry } from '../../capabilities/capability-registry.js';
import { Settings } from '../../config/settings.js';
import { InstanceIdentity } from '../../storage/instance-identity.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { Store } from '../../storage/store.js';
import { GuardFailed } from '../../storage/unit.js';
import { callFromRow, type LoadedCall } from '../../storage/units/load.js';
import { Clock } from '../../system/clock.js';
import { Logger, errorName } from '../../system/logger.js';
import { CallRecorder, reconcileFrom } from '../executor/call-recorder.js';
import { Executor } from '../executor/executor.worker.js';
import { IdleRuns } from './idle-runs.js';

const BATCH = 200;

/**
 * The safety net, at boot and then periodically: everything that should have been done by somebody who is gone, or by a
 * wake-up that was lost. Idempotent by compare-and-set, each row by itself. It never touches what this process is
 * carrying.
 */
@Injectable()
export class Sweep {
  private timer: NodeJS.Timeout | null = null;
  private pass: Promise<void> = Promise.resolve();
  /** In the mode `on_control`: authorizations older than this wait for an operator's word. Empty: nothing waits. */
  private carryOutSince = '';
  private stopListening: () => void = () => {};

  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
    private readonly settings: Settings,
    private readonly logger: Logger,
    private readonly capabilities: CapabilityRegistry,
    private readonly executor: Executor,
    private readonly recorder: CallRecorder,
    private readonly idleRuns: IdleRuns,
    private readonly instance: InstanceIdentity,
  ) {}

  start(): void {
    if (this.settings.execution.resumeAuthorized === 'on_control') this.waitForControl();
    this.timer = setInterval(() => {
      this.pass = this.pass.then(() => this.tick());
    }, this.settings.execution.sweepIntervalMs);
  }

  async stop(): Promise<void> {
    if (this.timer !== null) clearInterval(this.timer);
    this.stopListening();
    await this.pass;
  }

  private waitForControl(): void {
    this.carryOutSince = new Date(this.clock.now()).toISOString();
    this.stopListening = this.store.feed.subscribe('sweep', ({ unit }) => {
      const released = unit.appends.some(({ events }) =>
        events.some((event) => event.type === 'control.accepted' && event.payload['type'] === 'resume_authorized'),
      );
      if (!released) return;
      this.carryOutSince = '';
      this.pass = this.pass.then(() => this.tick());
    });
  }

  async tick(): Promise<void> {
    await this.guarded('calls on the wire', () => this.settleOrphans());
    await this.guarded('expired authorizations', () => this.closeExpired());
    await this.guarded('authorized calls', () => this.requeue());
    await this.guarded('idle runs', () => this.idleRuns.tick());
  }

  /** What a dead owner had on the wire, and what passed its deadline unobserved: nobody knows, and that is recorded. */
  private async settleOrphans(): Promise<void> {
    for (let after: string | null = null; ; ) {
      const rows: readonly TableRow<'tool_calls'>[] = await this.store.read.callsInStates(
        ['dispatching', 'dispatched', 'accepted'],
        BATCH,
        after,
      );
      for (const row of rows) await this.each(row, () => this.settleOrphan(row));
      const last = rows[rows.length - 1];
      if (last === undefined || rows.length < BATCH) return;
      after = last.tool_call_id;
    }
  }

  private async settleOrphan(row: TableRow<'tool_calls'>): Promise<void> {
    if (this.executor.isCarrying(row.tool_call_id)) return;
    const call = await callFromRow(this.store.read, row);
    const cause = this.orphanedBy(call);
    if (cause === null) return;
    const quiesceMs = this.capabilities.get(row.capability)?.manifest.quiesceMs ?? 0;
    await this.recorder.record(
      call,
      { kind: 'mark_unknown', unknown: { cause, lastError: cause } },
      { ...reconcileFrom(call, quiesceMs), producer: 'recovery', synthetic: true },
    );
  }

  private orphanedBy({ state }: LoadedCall): 'owner_lost' | 'deadline_passed' | null {
    if (!('ownerEpoch' in state)) return null;
    const pastDeadline = new Date(this.clock.now()).toISOString() >= state.deadline;
    // What the tool has accepted is the tool's to finish: a new owner may wait for it as well as the old one.
    if (state.status === 'accepted') return pastDeadline ? 'deadline_passed' : null;
    if (state.ownerEpoch < this.instance.get().epoch) return 'owner_lost';
    return pastDeadline ? 'deadline_passed' : null;
  }

  private async closeExpired(): Promise<void> {
    const now = new Date(this.clock.now()).toISOString();
    for (const row of await this.store.read.overdueAuthorizations(now, BATCH)) {
      if (row.authorization_basis === 'approval') continue; // the approval's own clock closes it
      await this.each(row, async () => {
        if (this.executor.isCarrying(row.tool_call_id)) return;
        const call = await callFromRow(this.store.read, row);
        const closing = { reason: 'authorization_expired' } as const;
        await this.recorder.record(call, { kind: 'close', closing }, { producer: 'recovery' });
      });
    }
  }

  /** Nothing was sent, so an authorized call may go on: by itself, or when an operator says so. */
  private async requeue(): Promise<void> {
    const now = new Date(this.clock.now()).toISOString();
    for (const work of await this.store.read.dueWork('execute', now, BATCH)) {
      if (work.next_at < this.carryOutSince) continue;
      this.executor.enqueue({ tenant: work.tenant, toolCallId: work.tool_call_id, capability: work.capability });
    }
    this.executor.pump();
  }

  private async each(row: TableRow<'tool_calls'>, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (error instanceof GuardFailed) return; // somebody else moved it, which is all a sweep wants
      this.logger.error('sweep of a call failed', { toolCallId: row.tool_call_id, error: errorName(error) });
    }
  }

  private async guarded(what: string, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.logger.error('a sweep failed', { what, error: errorName(error) });
    }
  }
}
