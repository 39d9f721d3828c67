import { Injectable } from '@nestjs/common';
import { UNMATCHED_COUNTER } from '../../domain/tool-call/late-evidence.js';
import type { CommittedUnit } from '../../storage/feed.js';
import type { Write } from '../../storage/unit.js';
import { INSTALLATION, UnitDesk } from '../../storage/units/unit-desk.js';
import { Logger, errorName } from '../../system/logger.js';
import { LateApplication } from './late-application.js';
import { LateMatching } from './late-matching.js';

const PAGE = 200;

/**
 * Sees to it that evidence is applied: when it comes, when the attempt it waits for has ended, and at every sweep. Costs
 * nothing while no evidence waits.
 */
@Injectable()
export class LateResults {
  private readonly waiting = new Set<string>();
  private readonly busy = new Map<string, Promise<void>>();
  private hasUnmatched = false;
  private mustMatch = true;
  private contradicted = 0;
  private stopListening: () => void = () => {};

  constructor(
    private readonly desk: UnitDesk,
    private readonly logger: Logger,
    private readonly application: LateApplication,
    private readonly matching: LateMatching,
  ) {}

  /** Calls that ended otherwise than later evidence says. */
  get contradictedCalls(): number {
    return this.contradicted;
  }

  start(): void {
    this.stopListening = this.desk.feed.subscribe('late results', (committed) => this.hear(committed));
  }

  async stop(): Promise<void> {
    this.stopListening();
    await Promise.all(this.busy.values());
  }

  /** Everything that waits, whoever forgot it. */
  async tick(): Promise<void> {
    this.hasUnmatched = (await this.desk.read.counter(INSTALLATION, UNMATCHED_COUNTER)) > 0;
    if (this.mustMatch) {
      this.mustMatch = false;
      await this.run('', () => this.matching.run());
    }
    for (let after: string | null = null; ;) {
      const ids: readonly string[] = await this.desk.read.callsWithWaitingResults(PAGE, after);
      for (const id of ids) await this.wake(id);
      after = ids[ids.length - 1] ?? null;
      if (ids.length < PAGE) break;
    }
    this.contradicted = await this.desk.read.contradictedCount();
  }

  private hear({ unit }: CommittedUnit): void {
    for (const write of unit.writes) {
      if (write.table === 'late_results') this.hearEvidence(write);
      else if (write.table === 'tool_calls') this.hearCall(write);
    }
  }

  private hearEvidence(write: Extract<Write, { readonly table: 'late_results' }>): void {
    const row = write.op === 'insert' ? write.row : write.op === 'set' ? write.set : {};
    if (row.state === 'unmatched') {
      this.hasUnmatched = true;
      const { capability, reference } = row;
      if (capability !== undefined && typeof reference === 'string')
        void this.run('', () => this.matching.about(capability, reference));
    }
    if (row.state === 'waiting' && typeof row.tool_call_id === 'string') void this.wake(row.tool_call_id);
  }

  private hearCall(write: Extract<Write, { readonly table: 'tool_calls' }>): void {
    if (write.op !== 'set') return;
    if (write.set.contradicted === 1) this.contradicted += 1;
    const id = write.where['tool_call_id'];
    if (this.hasUnmatched && typeof write.set.external_request_id === 'string' && typeof id === 'string')
      void this.run('', () => this.matching.aboutCall(id));
    if (this.waiting.size > 0 && typeof id === 'string' && this.waiting.has(id)) void this.wake(id);
  }

  private wake(toolCallId: string): Promise<void> {
    this.waiting.add(toolCallId);
    return this.run(toolCallId, async () => {
      if (await this.application.apply(toolCallId)) this.waiting.delete(toolCallId);
    });
  }

  /** One at a time for each call; what comes meanwhile runs after it. */
  private run(name: string, work: () => Promise<void>): Promise<void> {
    const before = this.busy.get(name) ?? Promise.resolve();
    const running = before.then(work).catch((error: unknown) => {
      if (name === '') this.mustMatch = true;
      this.logger.error('late evidence could not be applied', { toolCallId: name, error: errorName(error) });
    });
    this.busy.set(name, running);
    return running.finally(() => {
      if (this.busy.get(name) === running) this.busy.delete(name);
    });
  }
}
