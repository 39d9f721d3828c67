import { APPROVALS } from './approvals/approvals.providers.js';
import { ApprovalExpiry } from './approvals/approval-expiry.js';
import { Rejudgement } from './approvals/rejudgement.js';
import { StaleQuestions } from './approvals/stale-questions.js';
import { CaseFile } from './case-file.js';
import { POLICY_ENGINE } from './engine/policy-engine.providers.js';
import { FactReader } from './facts/fact-reader.js';
import { Judge } from './judge.js';
import { JudgementGrounds } from './judgement-grounds.js';
import { LEASES } from './leases/lease.providers.js';
import { POLICY_LIFE } from './life/policy-life.providers.js';
import { PolicyActivation } from './policy-activation.js';
import { PolicyService } from './policy.service.js';
import { PRECONDITIONS } from './preconditions/preconditions.providers.js';

/** Who judges, who is asked, what is lent. */
export const POLICY = [
  ...POLICY_ENGINE,
  ...POLICY_LIFE,
  ...PRECONDITIONS,
  PolicyService,
  PolicyActivation,
  CaseFile,
  FactReader,
  Judge,
  JudgementGrounds,
  Rejudgement,
  ApprovalExpiry,
  StaleQuestions,
  ...APPROVALS,
  ...LEASES,
];
