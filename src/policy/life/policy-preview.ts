import { setImmediate as turn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { GuardFailed } from '../../storage/unit.js';
import { loadCall } from '../../storage/units/load.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { CaseFile, RecordTampered } from '../case-file.js';
import type { PolicyDecision } from '../core/policy-types.js';
import type { PolicyCandidate, LoadReport } from '../engine/policy-set.js';
import { RecordedDecisions, type DecisionAsMade } from './recorded-decisions.js';
import { TrialEngines, type Trial } from './trial-engines.js';

export interface PreviewRange {
  /** The most decisions that are looked at. */
  readonly limit: number;
  /** ISO 8601, recorded at or after, and before. */
  readonly from: string | null;
  readonly to: string | null;
}

export interface Side {
  readonly outcome: PolicyDecision['outcome'];
  readonly determining: readonly string[];
}

export interface Flip {
  readonly tenant: string;
  readonly toolCallId: string;
  readonly policyDecisionId: string;
  readonly capability: string;
  readonly phase: string;
  readonly decidedAt: string;
  readonly from: Side;
  readonly to: Side;
}

export interface StaleApproval {
  readonly tenant: string;
  readonly approvalId: string;
  readonly toolCallId: string;
  readonly capability: string;
  /** The question ends; the call is asked about anew, or needs nobody any more, or is denied. */
  readonly becomes: 'asked_anew' | 'allowed' | 'denied';
  readonly determining: readonly string[];
}

export interface Preview {
  readonly report: LoadReport;
  readonly decisions: {
    readonly looked: number;
    readonly flipped: number;
    /** The newest, at most `FLIPS_MAX`. */
    readonly flips: readonly Flip[];
    /** Decisions that could not be compared, by why. */
    readonly skipped: Readonly<Record<string, number>>;
    /** Why it ended: there are no more, as many as were asked for, or the time was up. */
    readonly end: 'all' | 'limit' | 'time';
  };
  readonly approvals: {
    readonly looked: number;
    readonly stale: readonly StaleApproval[];
    readonly skipped: Readonly<Record<string, number>>;
    readonly end: 'all' | 'limit' | 'time';
  };
}

export const PREVIEW_LIMITS = { decisionsMax: 10_000, flipsMax: 500, approvalsMax: 1_000, timeMs: 20_000 } as const;

/** Positions per look: about as many decisions as an engine thread takes in a few milliseconds. */
const WINDOW = 400;

const NOTHING = { looked: 0, skipped: {}, end: 'all' } as const;

/**
 * What a candidate would have said to what was decided, and what becomes of the questions that are open. Reads and writes
 * nothing else; the candidate runs on a thread that is thrown away, within a bounded time.
 */
@Injectable()
export class PolicyPreview {
  constructor(
    private readonly desk: UnitDesk,
    private readonly decisions: RecordedDecisions,
    private readonly caseFile: CaseFile,
    private readonly trials: TrialEngines,
  ) {}

  run(candidate: PolicyCandidate, range: PreviewRange): Promise<Preview> {
    return this.trials.run(candidate, async (trial) => {
      const { report } = trial;
      if (!report.accepted) {
        return { report, decisions: { ...NOTHING, flipped: 0, flips: [] }, approvals: { ...NOTHING, stale: [] } };
      }
      const endMs = this.desk.clock.monotonic() + PREVIEW_LIMITS.timeMs;
      const approvals = await this.approvals(trial, endMs);
      return { report, approvals, decisions: await this.past(trial, range, endMs) };
    });
  }

  private async past({ decide }: Trial, range: PreviewRange, endMs: number): Promise<Preview['decisions']> {
    const flips: Flip[] = [];
    const skipped = new Tally();
    let [looked, flipped] = [0, 0];
    const answer = (end: Preview['decisions']['end']) => ({ looked, flipped, flips, skipped: skipped.counts, end });
    for (let below = this.desk.feed.head(); below > 0; below -= WINDOW) {
      const from = Math.max(0, below - WINDOW);
      const found = await this.desk.read.decisionsIn({ from, below, since: range.from, until: range.to });
      const chosen = found.slice(0, range.limit - looked);
      looked += chosen.length;
      const made = await Promise.all(chosen.map((decision) => this.decisions.asMade(decision)));
      const answers = await Promise.all(
        made.map(async (decision) => (decision === null ? null : decide(decision.request))),
      );
      for (const [index, decision] of made.entries()) {
        const now = answers[index];
        if (decision === null || now === null || now === undefined) skipped.add('erased');
        else if (now.denyCode === 'engine_error') skipped.add(now.engineErrors[0] ?? 'engine_error');
        else if (now.outcome !== decision.recorded.outcome) {
          flipped += 1;
          if (flips.length < PREVIEW_LIMITS.flipsMax) flips.push(flipOf(decision, now));
        }
      }
      if (looked >= range.limit) return answer('limit');
      if (this.desk.clock.monotonic() > endMs) return answer('time');
      await turn();
    }
    return answer('all');
  }

  private async approvals(trial: Trial, endMs: number): Promise<Preview['approvals']> {
    const { revision } = trial.report;
    const rows = await this.desk.read.questionsOutsideOf('', [], PREVIEW_LIMITS.approvalsMax + 1);
    const stale: StaleApproval[] = [];
    const skipped = new Tally();
    for (const [index, row] of rows.slice(0, PREVIEW_LIMITS.approvalsMax).entries()) {
      if (this.desk.clock.monotonic() > endMs) {
        return { looked: index, stale, skipped: skipped.counts, end: 'time' };
      }
      // A question stays as it is where the set does.
      if (row.policy_revision === revision) continue;
      const now = await this.asked(trial, row);
      if (typeof now === 'string') skipped.add(now);
      else stale.push(staleOf(row, now));
      if (index % 32 === 31) await turn();
    }
    const end = rows.length > PREVIEW_LIMITS.approvalsMax ? 'limit' : 'all';
    return { looked: Math.min(rows.length, PREVIEW_LIMITS.approvalsMax), stale, skipped: skipped.counts, end };
  }

  /** What the candidate says to the call as it would be asked about now, or why that cannot be told. */
  private async asked({ decide }: Trial, row: TableRow<'approvals'>): Promise<PolicyDecision | string> {
    const call = await loadCall(this.desk.read, row.tenant, row.tool_call_id);
    if (call === null) return 'unreadable';
    try {
      const { request } = await this.caseFile.open(call);
      const now = await decide({ ...request, approvals: {}, nowMs: this.desk.clock.now() });
      return now.denyCode === 'engine_error' ? (now.engineErrors[0] ?? 'engine_error') : now;
    } catch (error) {
      if (error instanceof RecordTampered || error instanceof GuardFailed) return 'unreadable';
      throw error;
    }
  }
}

class Tally {
  readonly counts: Record<string, number> = {};

  add(word: string): void {
    this.counts[word] = (this.counts[word] ?? 0) + 1;
  }
}

function flipOf({ recorded, request, ...decision }: DecisionAsMade, now: PolicyDecision): Flip {
  return {
    ...decision,
    capability: request.capability,
    phase: recorded.phase,
    from: { outcome: recorded.outcome, determining: recorded.determining as readonly string[] },
    to: { outcome: now.outcome, determining: now.determining },
  };
}

function staleOf(row: TableRow<'approvals'>, now: PolicyDecision): StaleApproval {
  const becomes = { allow: 'allowed', deny: 'denied', requires_confirmation: 'asked_anew' } as const;
  return {
    tenant: row.tenant,
    approvalId: row.approval_id,
    toolCallId: row.tool_call_id,
    capability: row.capability,
    becomes: becomes[now.outcome],
    determining: now.determining,
  };
}
