import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { tierOf, type PolicyTier } from '../core/annotations.js';
import type { LoadReport, PolicySet } from '../engine/policy-set.js';
import { POLICY_SCOPE } from '../policy-guard.js';
import { PolicyService } from '../policy.service.js';
import { FolderComparison } from './folder-comparison.js';
import { PolicyShadow, type ShadowState } from './shadow.worker.js';

export interface ListedPolicy {
  readonly id: string;
  readonly tier: PolicyTier;
  readonly actions: readonly string[] | null;
  readonly reason: string | null;
}

export interface Overview {
  readonly activation: Settings['policy']['activation'];
  readonly inForce: {
    readonly set: PolicySet;
    readonly activatedAt: string;
    readonly policies: readonly ListedPolicy[];
    readonly warnings: LoadReport['warnings'];
    readonly unattended: LoadReport['unattended'];
  } | null;
  readonly folderDiffers: boolean | null;
  readonly shadow: ShadowSeen | null;
  readonly activations: readonly TableRow<'policy_activations'>[];
  readonly lastRefusal: LoadReport | null;
}

export interface ShadowSeen extends ShadowState {
  readonly setBy: string;
  readonly setAt: string;
}

const ACTIVATIONS_MAX = 100;

/** Everything about policy sets in one look. */
@Injectable()
export class PolicyOverviews {
  constructor(
    private readonly desk: UnitDesk,
    private readonly policy: PolicyService,
    private readonly folder: FolderComparison,
    private readonly shadow: PolicyShadow,
    private readonly settings: Settings,
  ) {}

  async read(): Promise<Overview> {
    const report = this.policy.lastReport();
    return {
      activation: this.settings.policy.activation,
      inForce: await this.inForce(),
      folderDiffers: await this.folder.look(),
      shadow: await this.shadowSeen(),
      activations: await this.desk.read.openPolicyActivations(ACTIVATIONS_MAX),
      lastRefusal: report === null || report.accepted ? null : report,
    };
  }

  /** The shadow that is set, whether or not its engine has come up yet. */
  async shadowSeen(): Promise<ShadowSeen | null> {
    const row = await this.desk.read.policyShadow(POLICY_SCOPE);
    if (row === null) return null;
    const { revision, set_by: setBy, set_at: setAt } = row;
    const running = this.shadow.state();
    const state =
      running?.revision === revision ? running : ({ revision, state: 'starting', dropped: 0, unanswered: 0 } as const);
    return { ...state, setBy, setAt };
  }

  private async inForce(): Promise<Overview['inForce']> {
    const set = this.policy.set();
    const row = await this.desk.read.activePolicy(POLICY_SCOPE);
    if (set === null || row === null) return null;
    const policies = set.policies
      .map(({ annotations, actions }) => ({
        id: annotations.id,
        tier: tierOf(annotations),
        actions,
        reason: annotations.reason,
      }))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const [warnings, unattended] = [this.policy.warnings(), this.policy.unattended()];
    return { set, activatedAt: row.activated_at, policies, warnings, unattended };
  }
}
