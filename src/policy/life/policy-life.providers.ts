import type { Provider } from '@nestjs/common';
import { ActivationExpiry } from './activation-expiry.js';
import { DecisionReplay } from './decision-replay.js';
import { FolderComparison } from './folder-comparison.js';
import { PolicyBoot } from './policy-boot.js';
import { PolicyLifeWatch } from './policy-life-watch.js';
import { PolicyOverviews } from './policy-overview.js';
import { PolicyPreview } from './policy-preview.js';
import { RecordedDecisions } from './recorded-decisions.js';
import { ShadowRecord } from './shadow-record.js';
import { PolicyShadow } from './shadow.worker.js';
import { StoredSets } from './stored-sets.js';
import { TrialEngines } from './trial-engines.js';

/** How sets come, are tried, are compared and go. */
export const POLICY_LIFE: readonly Provider[] = [
  StoredSets,
  TrialEngines,
  RecordedDecisions,
  DecisionReplay,
  PolicyPreview,
  ShadowRecord,
  PolicyShadow,
  FolderComparison,
  PolicyBoot,
  PolicyLifeWatch,
  PolicyOverviews,
  ActivationExpiry,
];
