import { canonicalRequest } from '../../../src/policy/core/canonical-request.js';
import type { PolicyRequest } from '../../../src/policy/core/policy-types.js';
import type { PolicyCandidate } from '../../../src/policy/engine/policy-set.js';
import type { GovernedCapability } from '../../../src/policy/engine/schema.js';

/** The built worker: threads run what ships. */
export const BUILT_WORKER = new URL('../../../dist/policy/engine/policy.worker.js', import.meta.url);

export function fixtureWorker(name: string): URL {
  return new URL(`./workers/${name}.mjs`, import.meta.url);
}

export function capability(over: Partial<GovernedCapability> = {}): GovernedCapability {
  return {
    name: 'refund.create',
    version: '1.0.0',
    risk: 'low',
    effect: 'probeable',
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      required: ['orderId', 'amountMinor'],
      properties: {
        orderId: { type: 'string' },
        amountMinor: { type: 'integer' },
        currency: { type: 'string' },
        tags: { type: 'array', items: { type: 'string' } },
        customer: { type: 'object', additionalProperties: false, properties: { name: { type: 'string' } } },
      },
    },
    personal: [],
    ...over,
  };
}

export const READ = capability({
  name: 'order.read',
  effect: 'read_only',
  inputSchema: {
    type: 'object',
    additionalProperties: false,
    required: ['orderId'],
    properties: { orderId: { type: 'string' } },
  },
});

export function candidate(text: string, over: Partial<PolicyCandidate> = {}): PolicyCandidate {
  return {
    files: [{ name: 'test.cedar', text }],
    capabilities: [capability(), READ],
    approverGroups: ['support-lead', 'finance'],
    defaults: { decideWithinMs: 60_000, executionWindowMs: 90_000 },
    ...over,
  };
}

export function request(over: Partial<PolicyRequest> = {}): PolicyRequest {
  return {
    tenant: 'acme',
    sub: 'alice',
    act: 'bot',
    roles: ['harness'],
    capability: 'refund.create',
    capabilityVersion: '1.0.0',
    risk: 'low',
    effect: 'probeable',
    input: { orderId: 'o-1', amountMinor: 1200 },
    approvals: {},
    attempt: 1,
    reasoningPresent: false,
    allowDuplicateIntent: false,
    nowMs: 1_700_000_000_000,
    ...over,
  };
}

export const canonical = (over: Partial<PolicyRequest> = {}) => canonicalRequest(request(over));

export const PERMIT_ALL = '@id("permit-all") permit(principal, action, resource);';

/** Permits all, asks a support lead above 5,000 and forbids above 100,000. */
export const REFUNDS = `
  ${PERMIT_ALL}
  @id("ask-lead") @on_deny("requires_confirmation") @approvers("support-lead") @reason("needs a lead")
  forbid(principal, action == Action::"refund.create", resource) when { context.input.amountMinor > 5000 }
  unless { context.approvals["support-lead"].count >= 1 && !context.approvals["support-lead"].includesRequester };
  @id("never") @reason("too much")
  forbid(principal, action == Action::"refund.create", resource) when { context.input.amountMinor > 100000 };
`;
