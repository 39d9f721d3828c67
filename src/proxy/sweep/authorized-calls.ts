import { Injectable } from '@nestjs/common';
import type { EventType } from '../../domain/events/catalogue.js';
import type { NewEvent } from '../../domain/events/envelope.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { GuardFailed } from '../../storage/unit.js';
import { callFromRow } from '../../storage/units/load.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { Logger, errorName } from '../../system/logger.js';
import { sweepRows } from '../../system/row-sweep.js';
import { CallRecorder } from '../executor/call-recorder.js';
import { Executor } from '../executor/executor.worker.js';
import { LeftBehind } from './left-behind.js';

const BATCH = 200;

/** After these, what was held back or asked may be looked at anew. */
const WAKING: readonly EventType[] = [
  'pause.cleared',
  'capability.released',
  'policy.activated',
  'run.resumed',
  'ledger.restore_accepted',
];

/**
 * Authorized calls that nobody is carrying: after a restart, a pause, or a lost wake-up. Nothing of them was sent, so
 * they go on, by themselves or on an operator's word, until their time is over.
 */
@Injectable()
export class AuthorizedCalls {
  constructor(
    private readonly desk: UnitDesk,
    private readonly leftBehind: LeftBehind,
    private readonly executor: Executor,
    private readonly recorder: CallRecorder,
    private readonly logger: Logger,
  ) {}

  /** `wake` is called when what was held back may go on at once instead of at the next pass. */
  start(wake: () => void): void {
    this.leftBehind.start();
    this.desk.feed.subscribe('authorized-calls', ({ unit }) => {
      for (const { events } of unit.appends) for (const event of events) if (this.letsGo(event)) wake();
    });
  }

  /** Answers how many calls could not be looked after. */
  async tick(): Promise<number> {
    const now = this.desk.now();
    const unclosed = await sweepRows<TableRow<'tool_calls'>>({
      read: (limit) => this.desk.read.overdueAuthorizations(now, limit),
      idOf: (row) => row.tool_call_id,
      look: (row) => this.close(row),
    });
    const failed = await this.requeue();
    this.executor.pump();
    return unclosed + failed;
  }

  /** In order of their ids, that is of their proposal: the line after a restart is the line of before. */
  private async requeue(): Promise<number> {
    let failed = 0;
    let after: string | null = null;
    for (;;) {
      const rows: readonly TableRow<'tool_calls'>[] = await this.desk.read.callsInStates(['authorized'], BATCH, after);
      for (const row of rows) if (!(await this.goOn(row))) failed += 1;
      const last = rows[rows.length - 1];
      if (last === undefined || rows.length < BATCH) return failed;
      after = last.tool_call_id;
    }
  }

  private async goOn(row: TableRow<'tool_calls'>): Promise<boolean> {
    const { tenant, capability, tool_call_id: toolCallId } = row;
    try {
      const verdict = await this.leftBehind.verdictOn(row);
      if (verdict === 'send') this.executor.enqueue({ tenant, toolCallId, capability });
      if (verdict === 'close') await this.leftBehind.close(row);
      return true;
    } catch (error) {
      if (error instanceof GuardFailed) return true;
      this.logger.error('an authorized call could not go on', { toolCallId, error: errorName(error) });
      return false;
    }
  }

  private letsGo(event: NewEvent): boolean {
    const resumed = event.type === 'control.accepted' && event.payload['type'] === 'resume_authorized';
    if (resumed) this.leftBehind.release();
    return resumed || WAKING.includes(event.type);
  }

  private async close(row: TableRow<'tool_calls'>): Promise<boolean> {
    // An approval's own clock closes what rests on it, and what is being carried is past this.
    if (row.authorization_basis === 'approval' || this.executor.isCarrying(row.tool_call_id)) return true;
    const closing = { reason: 'authorization_expired' } as const;
    try {
      const call = await callFromRow(this.desk.read, row);
      await this.recorder.record(call, { kind: 'close', closing }, { producer: 'recovery' });
      return true;
    } catch (error) {
      if (error instanceof GuardFailed) return true;
      const toolCallId = row.tool_call_id;
      this.logger.error('an authorization could not expire', { toolCallId, error: errorName(error) });
      return false;
    }
  }
}
