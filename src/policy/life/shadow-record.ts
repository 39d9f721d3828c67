import { Injectable } from '@nestjs/common';
import type { TableRow } from '../../storage/rows/tables.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { Metrics } from '../../system/metrics/metrics.js';
import type { PolicyDecision } from '../core/policy-types.js';
import type { RecordedDecision } from '../core/replay.js';

/** The newest differences that are kept: the ring of the table. */
export const DIFFERENCES_MAX = 1000;

export interface ShadowAnswer {
  readonly tenant: string;
  readonly toolCallId: string;
  readonly policyDecisionId: string;
  readonly capability: string;
  readonly decidedAt: string;
  readonly recorded: RecordedDecision;
  readonly now: PolicyDecision;
}

type Flip = TableRow<'policy_shadow_flips'>;

/** What a shadow said, counted and kept: in memory until it is written, at most a second. No value of any argument. */
@Injectable()
export class ShadowRecord {
  private revision = '';
  private sequence = 0;
  private readonly flips = new Map<string, Flip>();
  private readonly changed = new Set<string>();
  private differences: TableRow<'policy_shadow_differences'>[] = [];
  private readonly answers;
  private readonly drops;

  constructor(
    private readonly desk: UnitDesk,
    metrics: Metrics,
  ) {
    this.answers = metrics.counter(
      'countersign_policy_shadow_decisions_total',
      'What the shadow policy set said to recorded decisions.',
      ['from', 'to'],
    );
    this.drops = metrics.counter(
      'countersign_policy_shadow_dropped_total',
      'Decisions that the shadow policy set was not asked about, because too many waited.',
    );
    this.drops.inc(0);
  }

  /** Goes on where an earlier process has ended with the same set. */
  async begin(revision: string): Promise<void> {
    const { read } = this.desk;
    const [rows, sequence] = [await read.shadowFlips(revision), await read.shadowSequence()];
    this.revision = revision;
    this.sequence = sequence;
    this.differences = [];
    this.changed.clear();
    this.flips.clear();
    for (const row of rows) this.flips.set(keyOf(row.from_outcome, row.to_outcome), { ...row });
  }

  add({ recorded, now, ...about }: ShadowAnswer): void {
    const [from, to] = [recorded.outcome, now.outcome];
    this.answers.inc({ from, to });
    const key = keyOf(from, to);
    const count = (this.flips.get(key)?.count ?? 0) + 1;
    const place = { revision: this.revision, from_outcome: from, to_outcome: to };
    this.flips.set(key, { ...place, count, last_at: about.decidedAt });
    this.changed.add(key);
    if (from === to) return;
    this.sequence += 1;
    this.differences.push({
      ...place,
      slot: this.sequence % DIFFERENCES_MAX,
      sequence: this.sequence,
      tenant: about.tenant,
      tool_call_id: about.toolCallId,
      policy_decision_id: about.policyDecisionId,
      capability: about.capability,
      phase: recorded.phase,
      from_determining: JSON.stringify(recorded.determining),
      to_determining: JSON.stringify(now.determining),
      decided_at: about.decidedAt,
    });
    if (this.differences.length > DIFFERENCES_MAX) this.differences.shift();
  }

  dropped(): void {
    this.drops.inc();
  }

  /** Nothing is written where nothing was found. */
  async write(): Promise<void> {
    const flips = [...this.changed].flatMap((key) => this.flips.get(key) ?? []);
    const differences = this.differences;
    if (flips.length === 0 && differences.length === 0) return;
    this.changed.clear();
    this.differences = [];
    const draft = this.desk.beginInstallation('policy-shadow');
    for (const row of flips) draft.write({ op: 'put', table: 'policy_shadow_flips', row });
    for (const row of differences) draft.write({ op: 'put', table: 'policy_shadow_differences', row });
    await this.desk.commit(draft);
  }
}

const keyOf = (from: string, to: string): string => `${from} ${to}`;
