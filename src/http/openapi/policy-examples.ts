import type {
  PolicyActivationBody,
  PolicyActivationDecisionBody,
  PolicyPreviewBody,
  PolicyReplayBody,
  PolicyShadowBody,
} from '../../client/contract/policies.js';

const REVISION = `sha256:${'5e'.repeat(32)}`;
const files = [
  {
    name: 'refunds.cedar',
    text: '@id("refunds.create")\npermit (principal, action == Action::"refund.create", resource)\nwhen { context.input.amountMinor <= 20000 };\n',
  },
];

const preview: PolicyPreviewBody = { files, limit: 500, from: '2031-01-01T00:00:00.000Z' };
const replays: PolicyReplayBody[] = [
  { toolCallId: 'call_01jz0q6k3v5m8x2c4d7f9h1k3n' },
  { policyDecisionId: 'dec_01jz0q6k3v5m8x2c4d7f9h1k3r' },
];
const shadows: PolicyShadowBody[] = [{ revision: REVISION, reason: 'a week beside the set in force' }, { files }];
const proposals: PolicyActivationBody[] = [
  { files, reason: 'refunds up to 200.00 need nobody' },
  { folder: true, reason: 'what was reviewed and deployed' },
];
const decision: PolicyActivationDecisionBody = { decision: 'allow', revision: REVISION };

/** Bodies about policy sets, by the id of the schema they show. */
export const POLICY_EXAMPLES: Readonly<Record<string, readonly unknown[]>> = {
  PolicyPreview: [preview],
  PolicyReplay: replays,
  PolicyShadowChoice: shadows,
  PolicyActivationProposal: proposals,
  PolicyActivationDecision: [decision],
};
