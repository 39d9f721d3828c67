import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { runFacts, runState } from '../../storage/rows/run.row.js';
import { Store } from '../../storage/store.js';
import { GuardFailed } from '../../storage/unit.js';
import { RunInUnit } from '../../storage/units/run-in-unit.js';
import { UnitDraft } from '../../storage/units/unit-draft.js';
import { Clock } from '../../system/clock.js';
import { IdSource } from '../../system/id-source.js';
import { PROXY } from '../executor/call-recorder.js';

const BATCH = 100;

/** Completes implicit runs in which nothing has happened for a long time and nothing is open. */
@Injectable()
export class IdleRuns {
  constructor(
    private readonly store: Store,
    private readonly ids: IdSource,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  async tick(): Promise<void> {
    const nowMs = this.clock.now();
    const before = new Date(nowMs - this.settings.runs.implicitIdleMs).toISOString();
    for (const row of await this.store.read.idleImplicitRuns(before, BATCH)) {
      const draft = new UnitDraft(this.ids, {
        tenant: row.tenant,
        lane: 'govern',
        actor: PROXY,
        correlationId: row.run_id,
        runId: row.run_id,
        sessionId: row.session_id,
        occurredAt: new Date(nowMs).toISOString(),
        causationId: null,
        causeKind: 'timer',
      });
      new RunInUnit(draft, { state: runState(row), facts: runFacts(row) }).do(
        { kind: 'complete', completion: { reason: 'idle' }, openCalls: 0 },
        'recovery',
      );
      try {
        await this.store.commit(draft.build());
      } catch (error) {
        if (!(error instanceof GuardFailed)) throw error;
      }
    }
  }
}
