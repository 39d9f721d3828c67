import { Injectable } from '@nestjs/common';
import { CapabilityGate } from '../../capabilities/capability-gate.js';
import type { LeaseCommand } from '../../domain/lease/lease.commands.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { GuardFailed } from '../../storage/unit.js';
import { LeaseInUnit, loadedLease } from '../../storage/units/lease-in-unit.js';
import { loadCall } from '../../storage/units/load.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { Logger, errorName } from '../../system/logger.js';
import { sweepRows } from '../../system/row-sweep.js';

const BATCH = 200;

/**
 * Leases whose time is over end as a fact, without anybody looking at them; and at boot, before anybody is served, so do
 * those of a process that is gone, unless somebody still watches their call (L6, L9).
 */
@Injectable()
export class LeaseSweep {
  constructor(
    private readonly desk: UnitDesk,
    private readonly gate: CapabilityGate,
    private readonly logger: Logger,
  ) {}

  /** Answers how many leases could not expire. */
  async tick(): Promise<number> {
    const now = this.desk.now();
    return sweepRows<TableRow<'leases'>>({
      read: (limit) => this.desk.read.overdueLeases(now, limit),
      idOf: (row) => row.lease_id,
      look: (row) => this.end(row, { kind: 'expire', now: this.desk.now() }, 'timer'),
    });
  }

  /** @throws Error when a lease of a dead process could not be ended: then nobody is to be served. */
  async atBoot(): Promise<void> {
    let failed = await this.tick();
    for (let after: string | null = null; ;) {
      const rows: readonly TableRow<'leases'>[] = await this.desk.read.liveLeases(BATCH, after);
      for (const row of rows) {
        if (row.owner_epoch >= this.desk.instance.epoch || (await this.isWatched(row))) continue;
        const revocation = { reason: 'restart', at: this.desk.now() } as const;
        if (!(await this.end(row, { kind: 'revoke', revocation }, 'external'))) failed += 1;
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < BATCH) break;
      after = last.lease_id;
    }
    if (failed > 0) throw new Error(`${failed} leases of a process that is gone could not be ended`);
  }

  /** The tool has accepted the call and its end is still waited for: the new process watches it as the old one did. */
  private async isWatched(row: TableRow<'leases'>): Promise<boolean> {
    if (row.kind !== 'act') return false;
    const call = await loadCall(this.desk.read, row.tenant, row.tool_call_id);
    if (call === null || call.state.status !== 'accepted' || call.state.attempt !== row.attempt) return false;
    return (this.gate.bound(call.state)?.manifest.lateResult ?? 'none') !== 'none';
  }

  private async end(row: TableRow<'leases'>, command: LeaseCommand, causeKind: 'timer' | 'external'): Promise<boolean> {
    try {
      const draft = this.desk.beginAbout(row, { lane: 'govern', causeKind });
      new LeaseInUnit(draft, loadedLease(row)).do(command);
      await this.desk.commit(draft);
      return true;
    } catch (error) {
      if (error instanceof GuardFailed) return true; // somebody else ended it
      this.logger.error('a lease could not be ended', { leaseId: row.lease_id, error: errorName(error) });
      return false;
    }
  }
}
