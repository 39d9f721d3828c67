import { Injectable } from '@nestjs/common';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { refuse, type Refusal } from '../../domain/errors/error-codes.js';
import type { LeaseUse } from '../../domain/lease/lease.commands.js';
import { decideLease } from '../../domain/lease/lease.decide.js';
import { GuardFailed } from '../../storage/unit.js';
import { LeaseInUnit, loadLease, type LoadedLease } from '../../storage/units/lease-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { Logger } from '../../system/logger.js';
import { Metrics } from '../../system/metrics/metrics.js';
import { LeaseTokens } from './lease-tokens.js';

/** Others that use the same lease at the same moment; each of them that wins makes room for one more look. */
const TRIES_MAX = 200;

/** Who presents a token, for which call as they know it, and in which tenant. */
export interface Presented {
  readonly token: string;
  readonly tenant: string;
  readonly usedBy: string;
  /** What the presenter knows of the call; a field that is left out is not compared. */
  readonly toolCallId?: string;
  readonly attempt?: number;
  readonly environmentId?: string;
  readonly audience?: string;
}

export type LeaseAnswer = { readonly ok: true; readonly lease: LoadedLease } | Refusal;

/** Looks at a presented token, and burns one use of its lease where that is asked for (L3, L4, L8). */
@Injectable()
export class LeaseUses {
  private readonly refusals;

  constructor(
    private readonly desk: UnitDesk,
    private readonly tokens: LeaseTokens,
    private readonly logger: Logger,
    metrics: Metrics,
  ) {
    this.refusals = metrics.counter('countersign_lease_refusals_total', 'Uses of leases that were refused, by code.', [
      'code',
    ]);
  }

  /** `burn` false only looks. A refusal is counted and logged; it names the lease only where the token is ours. */
  async present(presented: Presented, burn: boolean): Promise<LeaseAnswer> {
    const verified = await this.tokens.verifier.verify(presented.token, presented.audience ?? null);
    if (!verified.ok) return this.refused(verified, null);
    const { jti, aud, txn } = verified.claims;
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const lease = await loadLease(this.desk.read, presented.tenant, jti);
      if (lease === null || lease.state.audience !== aud || lease.facts.tool_call_id !== txn) {
        return this.refused(refuse('lease_not_found', 'There is no such lease.'), null);
      }
      if (presented.toolCallId !== undefined && presented.toolCallId !== txn) {
        return this.refused(refuse('lease_call_mismatch', 'The lease is for another call.'), jti);
      }
      const used = await this.use(lease, presented, burn);
      if (used === null) continue;
      return used.ok ? used : this.refused(used, jti);
    }
    throw new CountersignError('contended', 'too many use this lease at the same moment');
  }

  /** Null when somebody else moved the lease: then it is looked at again. */
  private async use(lease: LoadedLease, presented: Presented, burn: boolean): Promise<LeaseAnswer | null> {
    const { usedBy, attempt, environmentId } = presented;
    const use: LeaseUse = {
      now: this.desk.now(),
      usedBy,
      ...(attempt === undefined ? {} : { attempt }),
      ...(environmentId === undefined ? {} : { executionEnvironmentId: environmentId }),
    };
    const decided = decideLease(lease.state, { kind: 'use', use });
    if (!decided.ok) return decided;
    if (!burn) return { ok: true, lease };
    const { facts } = lease;
    const draft = this.desk.beginAbout(facts, { lane: 'govern', causeKind: 'external', occurredAt: use.now });
    const burnt = new LeaseInUnit(draft, lease).do({ kind: 'use', use });
    try {
      await this.desk.commit(draft);
      return { ok: true, lease: burnt.after };
    } catch (error) {
      if (error instanceof GuardFailed) return null;
      throw error;
    }
  }

  private refused(refusal: Refusal, leaseId: string | null): Refusal {
    this.refusals.inc({ code: refusal.code });
    this.logger.warn('the use of a lease was refused', { code: refusal.code, leaseId });
    return refusal;
  }
}
