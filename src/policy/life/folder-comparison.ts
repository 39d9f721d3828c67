import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { readPolicyFiles } from '../engine/load-policies.js';
import { POLICY_SCOPE } from '../policy-guard.js';
import { StoredSets, sameFiles } from './stored-sets.js';

/** Where a set comes into force by approval, the folder decides nothing: it is only compared with what was approved. */
@Injectable()
export class FolderComparison {
  private last: boolean | null = null;

  constructor(
    private readonly desk: UnitDesk,
    private readonly sets: StoredSets,
    private readonly settings: Settings,
  ) {}

  /** As of the last look: whether the folder holds something else than what is in force; null where it does not matter. */
  get differs(): boolean | null {
    return this.last;
  }

  async look(): Promise<boolean | null> {
    const { activation, dir } = this.settings.policy;
    if (activation === 'folder') return null;
    const active = await this.desk.read.activePolicy(POLICY_SCOPE);
    const stored = active === null ? null : await this.sets.find(active.revision);
    const { files, problems } = await readPolicyFiles(dir);
    this.last = stored === null || problems.length > 0 || !sameFiles(files, stored.candidate.files);
    return this.last;
  }
}
