import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import type { LeaseCommand } from '../../domain/lease/lease.commands.js';
import type { LeaseState, UpstreamCredential } from '../../domain/lease/lease.state.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { GuardFailed } from '../../storage/unit.js';
import { LeaseInUnit, loadedLease } from '../../storage/units/lease-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { Logger, errorName } from '../../system/logger.js';
import { Readiness } from '../../system/readiness.js';

/** Whoever makes credentials for single leases ends them, too. */
export abstract class UpstreamRevoker {
  /** `gone`: there was nothing left to end. Rejects when the provider does not say that it has ended. */
  abstract revoke(credential: UpstreamCredential): Promise<'revoked' | 'gone'>;
}

/** No provider makes credentials for single leases. */
export class NoUpstreamRevoker extends UpstreamRevoker {
  override revoke(): Promise<never> {
    return Promise.reject(new Error('no provider of this name is configured'));
  }
}

const BATCH = 200;
const BACKOFF_MS_MAX = 60_000;

type AliveUpstream = Extract<LeaseState, { readonly endedAs: unknown }>;

/**
 * What has ended here is ended at its provider: asked again and again with longer pauses, and where that never helps the
 * lease is irrevocable, which readiness says until the credential ends by itself or somebody has ended it.
 */
@Injectable()
export class UpstreamRevocations {
  private irrevocable = 0;

  constructor(
    private readonly desk: UnitDesk,
    private readonly revoker: UpstreamRevoker,
    private readonly settings: Settings,
    private readonly logger: Logger,
    readiness: Readiness,
  ) {
    readiness.watch(() =>
      this.irrevocable === 0
        ? []
        : [
            {
              name: 'irrevocable_leases',
              weight: 'degraded',
              detail: `${this.irrevocable} credentials of ended leases could not be ended at their provider`,
            },
          ],
    );
  }

  /** Answers how many leases could not be looked after; a provider that refuses is not among them. */
  async tick(): Promise<number> {
    let [failed, irrevocable] = [0, 0];
    for (let after: string | null = null; ;) {
      const rows: readonly TableRow<'leases'>[] = await this.desk.read.leasesAliveUpstream(BATCH, after);
      for (const row of rows) {
        const left = await this.look(row);
        if (left === null) failed += 1;
        if (left === 'irrevocable') irrevocable += 1;
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < BATCH) break;
      after = last.lease_id;
    }
    this.irrevocable = irrevocable;
    return failed;
  }

  /** The status it is left in; null when it could not be looked after. `again`: also where nobody asks by itself any more. */
  async look(row: TableRow<'leases'>, again = false): Promise<LeaseState['status'] | null> {
    const lease = loadedLease(row);
    const { state } = lease;
    if (!('endedAs' in state) || state.upstream === null) return state.status;
    try {
      const command = await this.nextFor(state, state.upstream, again);
      if (command === null) return state.status;
      const draft = this.desk.beginAbout(row, { lane: 'govern', causeKind: 'event' });
      const inUnit = new LeaseInUnit(draft, lease).do(command);
      await this.desk.commit(draft);
      if (inUnit.state.status === 'irrevocable') {
        this.logger.error('a credential could not be ended at its provider', { leaseId: row.lease_id });
      }
      return inUnit.state.status;
    } catch (error) {
      if (error instanceof GuardFailed) return state.status;
      this.logger.error('an ended lease could not be looked after', { leaseId: row.lease_id, error: errorName(error) });
      return null;
    }
  }

  private async nextFor(
    state: AliveUpstream,
    upstream: UpstreamCredential,
    again: boolean,
  ): Promise<LeaseCommand | null> {
    const now = this.desk.now();
    if (upstream.expiresAt !== null && upstream.expiresAt <= now) {
      return { kind: 'record_upstream_end', end: { basis: 'expired', at: now } };
    }
    const isDue = state.status === 'revoking' || (state.status === 'revoke_failed' && state.nextAt <= now);
    if (!isDue && !again) return null;
    try {
      const said = await this.revoker.revoke(upstream);
      return {
        kind: 'record_upstream_end',
        end: { basis: said === 'gone' ? 'gone' : 'provider', at: this.desk.now() },
      };
    } catch (error) {
      return this.failure(state, errorName(error));
    }
  }

  private failure(state: AliveUpstream, error: string): LeaseCommand {
    const { revokeTriesMax, revokeBackoffMs } = this.settings.leases;
    const tries = 'tries' in state ? state.tries : 0;
    const waitMs = Math.min(revokeBackoffMs * 2 ** tries, BACKOFF_MS_MAX);
    const nowMs = this.desk.clock.now();
    return {
      kind: 'record_revoke_failure',
      error,
      now: new Date(nowMs).toISOString(),
      nextAt: new Date(nowMs + waitMs).toISOString(),
      triesMax: revokeTriesMax,
    };
  }
}
