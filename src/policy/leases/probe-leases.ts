import { Injectable } from '@nestjs/common';
import type { Capability } from '../../capabilities/manifest.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { GuardFailed } from '../../storage/unit.js';
import { CallInUnit } from '../../storage/units/call-in-unit.js';
import { LeaseInUnit, loadLease, type LoadedLease } from '../../storage/units/lease-in-unit.js';
import type { LoadedCall } from '../../storage/units/load.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { LeaseAuthority } from './lease-authority.js';

/** A look-up about a call whose capability has leases is made under one of its own, which can only read and ends with it. */
@Injectable()
export class ProbeLeases {
  constructor(
    private readonly desk: UnitDesk,
    private readonly authority: LeaseAuthority,
  ) {}

  async around<T>(
    call: LoadedCall,
    { manifest }: Capability,
    lookUp: (lease: LoadedLease | undefined) => Promise<T>,
  ): Promise<T> {
    const { lease: offer, execution, probe } = manifest;
    if (offer === undefined || execution === undefined) return lookUp(undefined);
    const draft = this.desk.beginAbout(call.row, { lane: 'settle', causeKind: 'event' }).guard(this.desk.ownerGuard());
    const lent = this.authority.issueProbe(
      draft,
      new CallInUnit(draft, call),
      { offer, execution },
      {
        nowMs: this.desk.clock.now(),
        ownCredential: probe !== null && probe.credential !== null,
      },
    );
    await this.desk.commit(draft);
    try {
      return await lookUp(lent);
    } finally {
      await this.release(call, lent.facts.lease_id);
    }
  }

  /** Somebody else may have ended it meanwhile, which is all this wants. */
  private async release({ row }: LoadedCall, leaseId: string): Promise<void> {
    const lease = await loadLease(this.desk.read, row.tenant, leaseId);
    if (lease === null) return;
    const draft = this.desk.beginAbout(
      { ...row, last_event_id: lease.facts.last_event_id },
      { lane: 'settle', causeKind: 'event' },
    );
    try {
      const release = { reason: 'look_up_ended', at: draft.context.occurredAt } as const;
      new LeaseInUnit(draft, lease).do({ kind: 'release', release });
      await this.desk.commit(draft);
    } catch (error) {
      if (!(error instanceof GuardFailed || error instanceof CountersignError)) throw error;
    }
  }
}
