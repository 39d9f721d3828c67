import type {
  BreakGlassBody,
  DecisionsBody,
  DelegateBody,
  DelegateRevocationBody,
  DelegationBody,
  EditBody,
  EscalateBody,
  GrantBody,
  RefusalBody,
  ReviewBody,
  RevocationBody,
  WithdrawalBody,
} from '../../client/contract/approval-acts.js';
import type { PlanDecisionBody, PlanReviewBody } from '../../client/contract/plan-reviews.js';

const DIGEST = `sha256:${'5e'.repeat(32)}`;
const UNTIL = '2031-01-01T10:00:00.000Z';

const withdrawal: WithdrawalBody = { reason: 'I looked at the wrong order.' };
const delegate: DelegateBody = { to: 'omar', until: UNTIL, reason: 'I am in a meeting.' };
const delegateRevocation: DelegateRevocationBody = { to: 'omar', reason: 'The meeting is over.' };
const escalate: EscalateBody = { group: 'finance-lead', reason: 'Above what we may decide.' };
const breakGlass: BreakGlassBody = {
  digest: DIGEST,
  reason: 'The customer stands at the counter; nobody is reachable.',
};
const review: ReviewBody = { finding: 'justified', reason: 'The outage is on record.' };
const edit: EditBody = {
  digest: DIGEST,
  arguments: { orderId: 'ord_1001', amountMinor: 3500, currency: 'EUR' },
  reason: 'Half of it was delivered.',
};
const decisions: DecisionsBody = {
  decisions: [
    { approvalId: 'apr_01jz0q6k3v5m8x2c4d7f9h1k3p', digest: DIGEST, decision: 'allow' },
    { approvalId: 'apr_01jz0q6k3v5m8x2c4d7f9h1k3q', digest: DIGEST, decision: 'deny', reason: 'Paid back already.' },
  ],
};
const refusal: RefusalBody = { reason: 'Not this customer.' };
const grant: GrantBody = {
  capability: 'refund.create',
  principal: { act: 'support-agent' },
  argumentsEqual: { '/currency': 'EUR' },
  group: 'support-lead',
  until: UNTIL,
  reason: 'Returns of the recalled batch, this hour.',
};
const delegation: DelegationBody = { to: 'omar', until: UNTIL, reason: 'Holiday.' };
const revocation: RevocationBody = { reason: 'Back earlier.' };

const plan: PlanReviewBody = {
  plan: ['Look up the three orders.', 'Refund each that came back.'],
  decideWithinMs: 3_600_000,
};
const planDecision: PlanDecisionBody = { decision: 'approved', digest: DIGEST, reason: 'As agreed.' };

/** Part of `EXAMPLES`. */
export const APPROVAL_EXAMPLES: Readonly<Record<string, readonly unknown[]>> = {
  VoteWithdrawal: [withdrawal],
  ApprovalDelegation: [delegate],
  ApprovalDelegationRevocation: [delegateRevocation],
  ApprovalEscalation: [escalate],
  BreakGlass: [breakGlass],
  BreakGlassReview: [review],
  ApprovalEdit: [edit],
  ApprovalDecisions: [decisions],
  CallRefusal: [refusal],
  Grant: [grant],
  StandingDelegation: [delegation],
  StandingRightRevocation: [revocation],
  PlanReview: [plan],
  PlanDecision: [planDecision],
};
