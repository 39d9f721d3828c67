import { Injectable } from '@nestjs/common';
import type { JsonObject } from '../../domain/json/json-value.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { GuardFailed } from '../../storage/unit.js';
import { LeaseInUnit, loadedLease } from '../../storage/units/lease-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import type { UnitDraft } from '../../storage/units/unit-draft.js';

/** What leases may be chosen by, besides their id: everything they were issued for or with. */
export const LEASE_PREFIXES = ['agent', 'run', 'approval', 'capability', 'policyRevision', 'kid', 'epoch'] as const;
export type LeasePrefix = (typeof LEASE_PREFIXES)[number];

/** `epoch`: that process and all before it; everything else is compared as a text. */
export interface LeaseSelector {
  readonly by: LeasePrefix;
  readonly value: string;
}

const BATCH = 500;

const COLUMN: Readonly<Record<Exclude<LeasePrefix, 'epoch'>, keyof TableRow<'leases'>>> = {
  agent: 'agent',
  run: 'run_id',
  approval: 'approval_id',
  capability: 'capability',
  policyRevision: 'policy_revision',
  kid: 'kid',
};

/** Ends live leases that somebody chooses. */
@Injectable()
export class LeaseRevocation {
  constructor(private readonly desk: UnitDesk) {}

  /** Live leases of the tenant (null: of all) that the selector means. */
  async select(tenant: string | null, { by, value }: LeaseSelector): Promise<readonly TableRow<'leases'>[]> {
    const chosen: TableRow<'leases'>[] = [];
    for (let after: string | null = null; ;) {
      const rows: readonly TableRow<'leases'>[] = await this.desk.read.liveLeases(BATCH, after);
      chosen.push(
        ...rows.filter(
          (row) =>
            (tenant === null || row.tenant === tenant) &&
            (by === 'epoch' ? row.owner_epoch <= Number(value) : row[COLUMN[by]] === value),
        ),
      );
      const last = rows.at(-1);
      if (last === undefined || rows.length < BATCH) return chosen;
      after = last.lease_id;
    }
  }

  /** Into a unit of the tenant of the lease. What has ended stays as it ended. */
  into(draft: UnitDraft, row: TableRow<'leases'>, selector: LeaseSelector | null): void {
    const chosenBy: { selector?: JsonObject } = selector === null ? {} : { selector: { ...selector } };
    const revocation = { reason: 'operator', at: draft.context.occurredAt, ...chosenBy } as const;
    new LeaseInUnit(draft, loadedLease(row)).do({ kind: 'revoke', revocation });
  }

  /** Each in a unit of its own, caused by what the operator asked for. Answers how many were ended here. */
  async each(rows: readonly TableRow<'leases'>[], selector: LeaseSelector): Promise<number> {
    let ended = 0;
    for (const row of rows) {
      try {
        const draft = this.desk.beginAbout(row, { lane: 'govern', causeKind: 'external' });
        this.into(draft, row, selector);
        await this.desk.commit(draft);
        ended += 1;
      } catch (error) {
        if (!(error instanceof GuardFailed)) throw error;
      }
    }
    return ended;
  }
}
