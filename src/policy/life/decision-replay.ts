import { Injectable } from '@nestjs/common';
import type { ReadDecision } from '../../storage/readers/policy-records.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { compareDecisions, type ReplayAnswer } from '../core/replay.js';
import { RecordedDecisions, type DecisionAsMade } from './recorded-decisions.js';
import { StoredSets } from './stored-sets.js';
import { TrialEngines } from './trial-engines.js';

export interface ReplayedDecision {
  readonly policyDecisionId: string;
  readonly toolCallId: string;
  readonly decidedAt: string;
  /** Null where the record is erased. */
  readonly decided: {
    readonly phase: string;
    readonly outcome: string;
    readonly policyRevision: string;
    readonly engineVersion: string;
  } | null;
  readonly answer: ReplayAnswer;
}

/** Asks the set that made a decision again, with what the decision could read then, on an engine that is thrown away. */
@Injectable()
export class DecisionReplay {
  constructor(
    private readonly desk: UnitDesk,
    private readonly decisions: RecordedDecisions,
    private readonly sets: StoredSets,
    private readonly trials: TrialEngines,
  ) {}

  /** Every decision about a call, in order; empty when there is none. */
  async ofCall(tenant: string, toolCallId: string): Promise<readonly ReplayedDecision[]> {
    return this.replay(await this.desk.read.decisionsOf(tenant, toolCallId));
  }

  /** Null when there is no such decision. */
  async one(tenant: string, policyDecisionId: string): Promise<ReplayedDecision | null> {
    const found = await this.desk.read.decision(tenant, policyDecisionId);
    return found === null ? null : ((await this.replay([found]))[0] ?? null);
  }

  private async replay(found: readonly ReadDecision[]): Promise<readonly ReplayedDecision[]> {
    const made = await Promise.all(found.map((decision) => this.decisions.asMade(decision)));
    const bySet = new Map<string, DecisionAsMade[]>();
    for (const decision of made) {
      if (decision === null) continue;
      const { policyRevision } = decision.recorded;
      bySet.set(policyRevision, [...(bySet.get(policyRevision) ?? []), decision]);
    }
    const answers = new Map<string, ReplayAnswer>();
    for (const [revision, decisions] of bySet) await this.ask(revision, decisions, answers);
    return found.map(({ envelope }, index) => {
      const recorded = made[index]?.recorded;
      const policyDecisionId = envelope.policyDecisionId ?? '';
      return {
        policyDecisionId,
        toolCallId: envelope.streamId,
        decidedAt: envelope.recordedAt,
        decided:
          recorded === undefined
            ? null
            : {
                phase: recorded.phase,
                outcome: recorded.outcome,
                policyRevision: recorded.policyRevision,
                engineVersion: recorded.engineVersion,
              },
        answer: answers.get(policyDecisionId) ?? { answer: 'not_replayable', reason: 'erased' },
      };
    });
  }

  private async ask(
    revision: string,
    decisions: readonly DecisionAsMade[],
    answers: Map<string, ReplayAnswer>,
  ): Promise<void> {
    const all = (answer: ReplayAnswer): void =>
      decisions.forEach(({ policyDecisionId }) => answers.set(policyDecisionId, answer));
    const stored = await this.sets.find(revision);
    if (stored === null) return all({ answer: 'not_replayable', reason: 'unknown_revision' });
    await this.trials.run(stored.candidate, async ({ report, decide }) => {
      // A set that comes out different would answer in its own name, not in that of the one that decided.
      if (report.revision !== revision) return all({ answer: 'not_replayable', reason: 'engine_version' });
      for (const { policyDecisionId, recorded, request } of decisions) {
        answers.set(policyDecisionId, compareDecisions(recorded, await decide(request)));
      }
    });
  }
}
