import { Injectable } from '@nestjs/common';
import type { Actor } from '../../domain/events/envelope.js';
import { Clock } from '../../system/clock.js';
import { IdSource } from '../../system/id-source.js';
import { Logger, errorName } from '../../system/logger.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { Store } from '../../storage/store.js';
import { GuardFailed } from '../../storage/unit.js';
import { ApprovalInUnit } from '../../storage/units/approval-in-unit.js';
import { CallInUnit } from '../../storage/units/call-in-unit.js';
import { loadApproval, loadCall } from '../../storage/units/load.js';
import { UnitDraft } from '../../storage/units/unit-draft.js';

const BATCH = 100;
const CLOCKWORK: Actor = { sub: 'countersign' };

/**
 * Makes overdue approvals expire as events, without anybody reading them. Nobody answering is `expired`: never a
 * person's denial and never an allowance.
 */
@Injectable()
export class ApprovalExpiry {
  constructor(
    private readonly store: Store,
    private readonly ids: IdSource,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** One pass over what is overdue; each approval by itself, so one that fails holds up no other. */
  async tick(): Promise<number> {
    const now = new Date(this.clock.now()).toISOString();
    const pending = await this.store.read.overdueApprovals(now, BATCH);
    const granted = await this.store.read.overdueGrants(now, BATCH);
    let expired = 0;
    for (const row of [...pending, ...granted]) {
      if (await this.expireRow(row)) expired += 1;
    }
    return expired;
  }

  /** Expires one approval if it is overdue. False when it is not, or when somebody else was faster. */
  async expire(tenant: string, approvalId: string): Promise<boolean> {
    const approval = await loadApproval(this.store.read, tenant, approvalId);
    if (approval === null) return false;
    const call = await loadCall(this.store.read, tenant, approval.row.tool_call_id);
    if (call === null) return false;
    const now = new Date(this.clock.now()).toISOString();
    const draft = new UnitDraft(this.ids, {
      tenant,
      lane: 'govern',
      actor: CLOCKWORK,
      correlationId: call.row.tool_call_id,
      runId: call.row.run_id,
      sessionId: call.row.session_id,
      occurredAt: now,
      causationId: approval.row.last_event_id,
      causeKind: 'timer',
    });
    new ApprovalInUnit(draft, approval).do({ kind: 'expire', now });
    new CallInUnit(draft, call).do({ kind: 'close', closing: { reason: 'approval_expired' } }, {}, 'recovery');
    await this.store.commit(draft.build());
    return true;
  }

  private async expireRow(row: TableRow<'approvals'>): Promise<boolean> {
    try {
      return await this.expire(row.tenant, row.approval_id);
    } catch (error) {
      if (!(error instanceof GuardFailed)) {
        this.logger.error('approval could not expire', { approvalId: row.approval_id, error: errorName(error) });
      }
      return false;
    }
  }
}
