import { acceptedCommand } from '../client/contract/control.js';
import {
  policyActivationBody,
  policyActivationDecisionBody,
  policyOverview,
  policyPreview,
  policyPreviewBody,
  policyReplayBody,
  policyReplayReport,
  policyShadowBody,
  policyShadowReport,
  proposedActivation,
  storedPolicySet,
} from '../client/contract/policies.js';
import { COMMAND_KEY } from './openapi/headers.js';
import type { Operation } from './openapi/operation.js';
import { RECORDING } from './openapi/usual-refusals.js';

const COMMAND = ['command_id_conflict', 'invalid_idempotency_key', 'not_authorized', ...RECORDING] as const;

export const LIST_POLICIES = {
  id: 'getPolicies',
  tag: 'Policies',
  summary: 'Read what is in force',
  description:
    'For operators and auditors of the installation: the set, its tiers, the shadow, open proposals, the last refusal.',
  answers: { 200: { means: 'As of now.', body: policyOverview } },
  refusals: ['not_authorized'],
} as const satisfies Operation;

export const GET_POLICY_SET = {
  id: 'getPolicySet',
  tag: 'Policies',
  summary: 'Read a policy set that was proposed or in force',
  answers: { 200: { means: 'The set, in the words it was written in.', body: storedPolicySet } },
  refusals: ['not_authorized', 'policy_set_unknown'],
} as const satisfies Operation;

export const PREVIEW_POLICIES = {
  id: 'previewPolicies',
  tag: 'Policies',
  summary: 'See what a candidate would change',
  description:
    'Checks the candidate and asks it about recorded decisions, the newest first, and about every pending approval, on a thread apart and within 20 seconds. Writes nothing. A candidate with problems is answered with them.',
  body: policyPreviewBody,
  answers: { 200: { means: 'What was found.', body: policyPreview } },
  refusals: ['not_authorized'],
} as const satisfies Operation;

export const REPLAY_POLICY = {
  id: 'replayPolicyDecisions',
  tag: 'Policies',
  summary: 'Decide again what was decided',
  description:
    'Asks the very set that made a decision again, with what that decision could read. A call stands for every decision about it.',
  body: policyReplayBody,
  answers: { 200: { means: 'The answers.', body: policyReplayReport } },
  refusals: ['not_authorized', 'policy_decision_not_found'],
} as const satisfies Operation;

export const GET_POLICY_SHADOW = {
  id: 'getPolicyShadow',
  tag: 'Policies',
  summary: 'Read what the shadow would have said',
  answers: { 200: { means: 'Counts, and the newest differences.', body: policyShadowReport } },
  refusals: ['not_authorized'],
} as const satisfies Operation;

export const SET_POLICY_SHADOW = {
  id: 'setPolicyShadow',
  tag: 'Policies',
  summary: 'Ask one more set about every decision',
  description:
    'It decides nothing and slows nothing: it is asked afterwards, and what is too much for it is dropped and counted.',
  headers: [COMMAND_KEY],
  body: policyShadowBody,
  answers: { 202: { means: 'It is asked from now on, over restarts.', body: acceptedCommand } },
  refusals: [...COMMAND, 'policy_set_unknown', 'policy_set_refused'],
} as const satisfies Operation;

export const CLEAR_POLICY_SHADOW = {
  id: 'clearPolicyShadow',
  tag: 'Policies',
  summary: 'End the shadow',
  headers: [COMMAND_KEY],
  answers: { 202: { means: 'It is asked no more.', body: acceptedCommand } },
  refusals: [...COMMAND, 'policy_shadow_not_set'],
} as const satisfies Operation;

export const PROPOSE_ACTIVATION = {
  id: 'proposePolicyActivation',
  tag: 'Policies',
  summary: 'Propose a policy set',
  description:
    'Where `policy.activation` is `approved`. The set is checked and kept; another operator of the installation decides.',
  headers: [COMMAND_KEY],
  body: policyActivationBody,
  answers: { 202: { means: 'The proposal is recorded.', body: proposedActivation } },
  refusals: [...COMMAND, 'policy_activation_by_folder', 'policy_set_refused'],
} as const satisfies Operation;

export const DECIDE_ACTIVATION = {
  id: 'decidePolicyActivation',
  tag: 'Policies',
  summary: 'Allow or deny a proposed policy set',
  description:
    'By an operator of the installation other than its author, never by an agent. Allowed, it is in force at once.',
  headers: [COMMAND_KEY],
  body: policyActivationDecisionBody,
  answers: { 202: { means: 'The word is recorded, and the set in force if it was allowed.', body: acceptedCommand } },
  refusals: [
    ...COMMAND,
    'approver_not_allowed',
    'policy_activation_not_found',
    'policy_activation_closed',
    'policy_activation_stale',
    'policy_set_unknown',
    'policy_set_refused',
  ],
} as const satisfies Operation;
