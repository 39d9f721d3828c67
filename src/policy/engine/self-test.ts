import type { PolicyDecision, PolicyRequest } from '../core/policy-types.js';
import type { Cedar } from './cedar-module.js';
import { checkPolicies } from './check-policies.js';
import { evaluateWith } from './evaluate.js';
import type { PreparedSet } from './policy-engine.js';
import type { PolicyCandidate, PolicySet } from './policy-set.js';

const CAPABILITY = 'self-test';

/** Policies of our own, apart from the operator's, whose answers are known. They go through the same checks. */
const CANDIDATE: PolicyCandidate = {
  files: [
    {
      name: 'self-test.cedar',
      text: `
        @id("permit") permit(principal, action == Action::"${CAPABILITY}", resource)
          when { principal.roles.contains("known") && context.input.word != "unknown" };
        @id("forbid") forbid(principal, action == Action::"${CAPABILITY}", resource) when { context.input.word == "forbidden" };
        @id("ask") @on_deny("requires_confirmation") @approvers("people") @quorum("2")
          forbid(principal, action, resource) when { context.input.number > 10 } unless { context.approvals.people.count >= 2 };
      `,
    },
  ],
  capabilities: [
    {
      name: CAPABILITY,
      version: '1',
      risk: 'high',
      effect: 'read_only',
      inputSchema: {
        type: 'object',
        properties: { word: { type: 'string' }, number: { type: 'integer' } },
        required: ['word', 'number'],
        additionalProperties: false,
      },
      personal: [],
    },
  ],
  approverGroups: ['people'],
  defaults: { decideWithinMs: 1000, executionWindowMs: 1000 },
};

interface Vector {
  readonly word: string;
  readonly number: number;
  readonly outcome: PolicyDecision['outcome'];
  readonly denyCode: PolicyDecision['denyCode'];
}

const VECTORS: readonly Vector[] = [
  { word: 'permitted', number: 1, outcome: 'allow', denyCode: null },
  { word: 'forbidden', number: 1, outcome: 'deny', denyCode: 'forbidden' },
  { word: 'forbidden', number: 11, outcome: 'deny', denyCode: 'forbidden' },
  { word: 'unknown', number: 1, outcome: 'deny', denyCode: 'no_permit' },
  { word: 'permitted', number: 11, outcome: 'requires_confirmation', denyCode: null },
];

/** Throws a plain `Error` when the engine's parser or validator does not accept what it must. */
export function selfTestSet(cedar: Cedar): PolicySet {
  const checked = checkPolicies(cedar, CANDIDATE);
  if (!checked.ok) throw new Error('the policy engine does not accept its self-test policies');
  return checked.set;
}

/** True when every known request gets its known answer. */
export function selfTestPasses(prepared: PreparedSet): boolean {
  return VECTORS.every(({ word, number, outcome, denyCode }) => {
    const decision = evaluateWith(prepared, requestWith(word, number));
    return decision.outcome === outcome && decision.denyCode === denyCode;
  });
}

function requestWith(word: string, number: number): PolicyRequest {
  return {
    tenant: 'self-test',
    sub: 'self-test',
    roles: ['known'],
    capability: CAPABILITY,
    capabilityVersion: '1',
    risk: 'high',
    effect: 'read_only',
    input: { word, number },
    approvals: {},
    attempt: 1,
    reasoningPresent: false,
    allowDuplicateIntent: false,
    nowMs: 0,
  };
}
