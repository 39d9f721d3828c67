import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import type { LoadReport } from '../engine/policy-set.js';
import { PolicyActivation } from '../policy-activation.js';
import { POLICY_SCOPE } from '../policy-guard.js';
import { FolderComparison } from './folder-comparison.js';
import { PolicyShadow } from './shadow.worker.js';
import { StoredSets } from './stored-sets.js';

/** Which set a process starts with. */
@Injectable()
export class PolicyBoot {
  constructor(
    private readonly activation: PolicyActivation,
    private readonly sets: StoredSets,
    private readonly folder: FolderComparison,
    private readonly shadow: PolicyShadow,
    private readonly settings: Settings,
  ) {}

  /**
   * The folder's; or, where activation is an approved action, the texts that were approved last, judged by the manifests of
   * now. The very first start has nothing approved yet and takes the folder.
   *
   * @throws CountersignError `policy_set_refused`: nothing is served without a set
   */
  async begin(): Promise<LoadReport> {
    const files = this.settings.policy.activation === 'approved' ? await this.approvedFiles() : null;
    const report = await this.activation.activate(files === null ? null : { files, problems: [] });
    await this.folder.look();
    return report;
  }

  /** A shadow that was set before a restart goes on; the start does not wait for it. */
  async resumeShadow(): Promise<void> {
    const { read } = this.desk;
    const row = await read.policyShadow(POLICY_SCOPE);
    const stored = row === null ? null : await this.sets.find(row.revision);
    if (stored !== null) await this.shadow.follow(stored);
  }

  private async approvedFiles() {
    const active = await this.desk.read.activePolicy(POLICY_SCOPE);
    const stored = active === null ? null : await this.sets.find(active.revision);
    return stored?.candidate.files ?? null;
  }

  private get desk(): UnitDesk {
    return this.sets.desk;
  }
}
