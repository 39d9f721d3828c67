import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { closeUnsent } from '../../storage/units/close-unsent.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { callFromRow, loadApproval } from '../../storage/units/load.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { ResumeRules } from './resume-rules.js';

const REMEMBERED_MAX = 10_000;

/** Whether an allowed call that another process left goes on: by the settings, and by the Resume Contract. */
@Injectable()
export class LeftBehind {
  /** ISO 8601: calls allowed before it are another process's. Empty: not started, nothing is. */
  private since = '';
  /** An operator has said that what waits may go on. */
  private released = false;
  /** Verdicts do not change while a process lives, so that each record is read once. */
  private readonly verdicts = new Map<string, 'send' | 'wait' | 'close'>();

  constructor(
    private readonly desk: UnitDesk,
    private readonly settings: Settings,
    private readonly rules: ResumeRules,
  ) {}

  start(): void {
    this.since = this.desk.now();
  }

  release(): void {
    this.released = true;
  }

  async verdictOn(row: TableRow<'tool_calls'>): Promise<'send' | 'wait' | 'close'> {
    if (row.updated_at >= this.since) return 'send';
    const verdict = await this.byContract(row);
    if (verdict === 'close') return 'close';
    const waits = verdict === 'wait' || this.settings.execution.resumeAuthorized === 'on_control';
    return waits && !this.released ? 'wait' : 'send';
  }

  /** What may not go on under this version ends with its approval; nothing of it was sent. */
  async close(row: TableRow<'tool_calls'>): Promise<void> {
    const call = await callFromRow(this.desk.read, row);
    const approval = row.approval_id === null ? null : await loadApproval(this.desk.read, row.tenant, row.approval_id);
    const draft = this.desk.beginAbout(row, { lane: 'govern', causeKind: 'event' });
    closeUnsent(draft, call, approval, 'superseded', 'recovery');
    await this.desk.commit(draft);
  }

  private async byContract(row: TableRow<'tool_calls'>): Promise<'send' | 'wait' | 'close'> {
    const known = this.verdicts.get(row.last_event_id);
    if (known !== undefined) return known;
    // A record that cannot be read is the dispatcher's to refuse: it sends nothing that it cannot verify.
    const event = await this.desk.read.event(row.tenant, row.last_event_id).catch(() => null);
    if (event === null) return 'send';
    const verdict = this.rules.authorized(event.envelope.versionSetId);
    if (this.verdicts.size >= REMEMBERED_MAX) this.verdicts.clear();
    this.verdicts.set(row.last_event_id, verdict);
    return verdict;
  }
}
