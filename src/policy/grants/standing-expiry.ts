import { Injectable } from '@nestjs/common';
import { GuardFailed } from '../../storage/unit.js';
import { changeStanding, loadStanding } from '../../storage/units/standing-in-unit.js';
import { COUNTERSIGN, UnitDesk } from '../../storage/units/unit-desk.js';
import { Logger, errorName } from '../../system/logger.js';
import { sweepRows } from '../../system/row-sweep.js';
import { GrantBoard } from './grant-board.js';

/** Grants and delegations whose time is over end as events, without anybody reading them. */
@Injectable()
export class StandingExpiry {
  constructor(
    private readonly desk: UnitDesk,
    private readonly logger: Logger,
    private readonly board: GrantBoard,
  ) {}

  async tick(): Promise<number> {
    const { read } = this.desk;
    const now = this.desk.now();
    const grants = await sweepRows({
      read: (limit) => read.overdueStandingGrants(now, limit),
      idOf: (row) => row.grant_id,
      look: (row) => this.expire('grant', row.tenant, row.grant_id),
    });
    const delegations = await sweepRows({
      read: (limit) => read.overdueDelegations(now, limit),
      idOf: (row) => row.delegation_id,
      look: (row) => this.expire('delegation', row.tenant, row.delegation_id),
    });
    // The first sweep is at the start: from then on the board knows what stands.
    await this.board.reload();
    return grants + delegations;
  }

  private async expire(kind: 'grant' | 'delegation', tenant: string, id: string): Promise<boolean> {
    try {
      const before = await loadStanding(this.desk.read, kind, tenant, id);
      if (before?.state?.status !== 'active') return true;
      const draft = this.desk.begin({
        tenant,
        lane: 'govern',
        actor: COUNTERSIGN,
        correlationId: id,
        occurredAt: this.desk.now(),
        causationId: null,
        causeKind: 'timer',
      });
      changeStanding(draft, before, { kind: 'expire', now: draft.context.occurredAt });
      await this.desk.commit(draft);
      return true;
    } catch (error) {
      if (error instanceof GuardFailed) return true;
      this.logger.error('standing right could not expire', { kind, id, error: errorName(error) });
      return false;
    }
  }
}
