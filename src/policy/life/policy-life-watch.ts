import { Injectable } from '@nestjs/common';
import { Metrics } from '../../system/metrics/metrics.js';
import { Readiness } from '../../system/readiness.js';
import { problemLines } from '../policy-problems.js';
import { PolicyService } from '../policy.service.js';
import { FolderComparison } from './folder-comparison.js';
import { PolicyShadow } from './shadow.worker.js';

/** What readiness and metrics say about sets that are not in force: the one that was refused, the folder's, the shadow. */
@Injectable()
export class PolicyLifeWatch {
  constructor(
    policy: PolicyService,
    folder: FolderComparison,
    shadow: PolicyShadow,
    readiness: Readiness,
    metrics: Metrics,
  ) {
    readiness.watch(() => {
      const report = policy.lastReport();
      if (report === null || report.accepted) return [];
      const detail = `the last policy set was refused with ${report.problems.length} problems; the one before stays in force`;
      const about = problemLines(report.problems);
      return [{ name: 'policy_refused', weight: 'degraded', detail, about, ofInstallation: true }];
    });
    readiness.watch(() => {
      if (folder.differs !== true) return [];
      const detail = 'the policy folder holds something else than the approved set, which stays in force';
      return [{ name: 'policy_folder_differs', weight: 'information', detail }];
    });
    readiness.watch(() => {
      if (shadow.state()?.state !== 'refused') return [];
      const detail = 'the shadow policy set does not pass its check any more and is not asked';
      return [{ name: 'policy_shadow_refused', weight: 'information', detail }];
    });
    metrics.gauge('countersign_policy_shadow_asked', '1 while a shadow policy set is asked.', () =>
      shadow.state()?.state === 'asking' ? 1 : 0,
    );
  }
}
