import { Injectable } from '@nestjs/common';
import type {
  PolicyOverview,
  PolicyPreviewReport,
  PolicyReplayReport,
  PolicyShadowReport,
  StoredPolicySet,
} from '../client/contract/policies.js';
import type { Settings } from '../config/settings.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import type { Caller } from '../identity/caller.js';
import type { LoadReport } from '../policy/engine/policy-set.js';
import type { ReplayedDecision } from '../policy/life/decision-replay.js';
import { PolicyOverviews, type Overview } from '../policy/life/policy-overview.js';
import type { Preview } from '../policy/life/policy-preview.js';
import { StoredSets } from '../policy/life/stored-sets.js';

const DIFFERENCES = 200;

type Outcome = PolicyShadowReport['flips'][number]['from'];

/** Policy sets as the wire shows them. */
@Injectable()
export class PolicyViews {
  constructor(
    private readonly overviews: PolicyOverviews,
    private readonly sets: StoredSets,
  ) {}

  /** Sets belong to the installation. @throws CountersignError `not_authorized` */
  mustBeOfInstallation(caller: Caller, { installation }: Pick<Settings, 'installation'>): void {
    if (caller.tenant === installation.operatorTenant) return;
    throw new CountersignError(
      'not_authorized',
      'only operators and auditors of the installation may see this (installation.operatorTenant)',
    );
  }

  async overview(): Promise<PolicyOverview> {
    const { activations, inForce, lastRefusal, shadow, ...rest } = await this.overviews.read();
    return {
      ...rest,
      inForce: inForce === null ? null : shownSet(inForce),
      shadow: shadow === null ? null : { ...shadow },
      activations: activations.map((row) => ({
        activationId: row.activation_id,
        revision: row.revision,
        basedOn: row.based_on,
        author: row.author,
        reason: row.reason,
        state: row.state,
        decideBy: row.decide_by,
        createdAt: row.created_at,
      })),
      lastRefusal: lastRefusal === null ? null : { problems: copies(lastRefusal.problems) },
    };
  }

  /** @throws CountersignError `policy_set_unknown` */
  async set(revision: string): Promise<StoredPolicySet> {
    const stored = await this.sets.find(revision);
    if (stored === null) throw new CountersignError('policy_set_unknown', 'no set of this revision is kept');
    const { candidate, schemaDigest, engineVersion, policyIds, firstSeen } = stored;
    return {
      revision,
      schemaDigest,
      engineVersion,
      policyIds: [...policyIds],
      approverGroups: [...candidate.approverGroups],
      capabilities: candidate.capabilities.map(({ name, version }) => `${name}@${version}`),
      files: copies(candidate.files),
      firstSeen,
    };
  }

  async shadow(): Promise<PolicyShadowReport> {
    const shadow = await this.overviews.shadowSeen();
    if (shadow === null) return { shadow: null, flips: [], differences: [] };
    const { read } = this.sets.desk;
    const flips = await read.shadowFlips(shadow.revision);
    const differences = await read.shadowDifferences(shadow.revision, DIFFERENCES);
    return {
      shadow: { ...shadow },
      flips: flips.map((row) => ({
        from: row.from_outcome as Outcome,
        to: row.to_outcome as Outcome,
        count: row.count,
      })),
      differences: differences.map((row) => ({
        tenant: row.tenant,
        toolCallId: row.tool_call_id,
        policyDecisionId: row.policy_decision_id,
        capability: row.capability,
        phase: row.phase,
        decidedAt: row.decided_at,
        from: { outcome: row.from_outcome as Outcome, determining: JSON.parse(row.from_determining) as string[] },
        to: { outcome: row.to_outcome as Outcome, determining: JSON.parse(row.to_determining) as string[] },
      })),
    };
  }
}

const copies = <T extends object>(items: readonly T[]): T[] => items.map((item) => ({ ...item }));

function shownSet({ set, policies, warnings, unattended, activatedAt }: NonNullable<Overview['inForce']>) {
  const { revision, schemaDigest, engineVersion } = set;
  return {
    revision,
    schemaDigest,
    engineVersion,
    activatedAt,
    policies: policies.map(({ actions, ...policy }) => ({
      ...policy,
      actions: actions === null ? null : [...actions],
    })),
    warnings: copies(warnings),
    unattended: copies(unattended),
  };
}

const NOTHING = { looked: 0, skipped: {}, end: 'all' } as const;

/** What a candidate would change; one that never became a candidate has problems only. */
export function previewReport(preview: Preview | { readonly report: LoadReport }): PolicyPreviewReport {
  const { report } = preview;
  const shown = {
    accepted: report.accepted,
    revision: report.revision,
    problems: copies(report.problems),
    warnings: copies(report.warnings),
    unattended: copies(report.unattended),
  };
  if (!('decisions' in preview)) {
    return { ...shown, decisions: { ...NOTHING, flipped: 0, flips: [] }, approvals: { ...NOTHING, stale: [] } };
  }
  const { decisions, approvals } = preview;
  return {
    ...shown,
    decisions: {
      ...decisions,
      skipped: { ...decisions.skipped },
      flips: decisions.flips.map((flip) => ({
        ...flip,
        from: { ...flip.from, determining: [...flip.from.determining] },
        to: { ...flip.to, determining: [...flip.to.determining] },
      })),
    },
    approvals: {
      ...approvals,
      skipped: { ...approvals.skipped },
      stale: approvals.stale.map((each) => ({ ...each, determining: [...each.determining] })),
    },
  };
}

export function replayReport(found: readonly ReplayedDecision[]): PolicyReplayReport {
  return {
    items: found.map(({ answer, decided, ...decision }) => ({
      ...decision,
      decided: decided === null ? null : { ...decided, outcome: decided.outcome as Outcome },
      answer: answer.answer,
      reason: answer.answer === 'not_replayable' ? answer.reason : null,
      differences: answer.answer === 'different' ? copies(answer.differences) : [],
    })),
  };
}
