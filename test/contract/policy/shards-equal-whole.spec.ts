import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Schema } from '@cedar-policy/cedar-wasm/nodejs';
import fc from 'fast-check';
import type { Cedar } from '../../../src/policy/engine/cedar-module.js';
import { loadCedar } from '../../../src/policy/engine/cedar-module.js';
import { CedarEngine } from '../../../src/policy/engine/cedar.engine.js';
import { checkPolicies } from '../../../src/policy/engine/check-policies.js';
import { encodeApprovals, encodeRequest } from '../../../src/policy/engine/encode-request.js';
import { evaluateWith } from '../../../src/policy/engine/evaluate.js';
import type { PolicySet } from '../../../src/policy/engine/policy-set.js';
import { candidate, capability, request } from './policy-fixtures.js';

const LIMIT = 'counter=spend.day;by=principal;add=input.amountMinor;max=50';
const ACTIONS = ['a.create', 'a.read', 'b.create'];
const GROUPS = ['finance', 'support-lead'];

let cedar: Cedar;

beforeAll(async () => {
  cedar = await loadCedar();
});

const scopes = fc.oneof(
  fc.constant('action'),
  fc.constantFrom(...ACTIONS).map((name) => `action == Action::"${name}"`),
  fc.constantFrom(...ACTIONS).map((name) => `action in Action::"${name}"`),
  fc
    .subarray(ACTIONS, { minLength: 1 })
    .map((names) => `action in [${names.map((name) => `Action::"${name}"`).join(', ')}]`),
);
const resources = fc.oneof(
  fc.constant('resource'),
  fc.constantFrom(...ACTIONS).map((name) => `resource == Capability::"${name}"`),
);
const conditions = fc.constantFrom(
  'context.input.amountMinor > 5',
  'context.input.amountMinor * 4611686018427387904 > 5',
  'principal.roles.contains("harness")',
  'action == Action::"a.create"',
  'context.approvals.finance.count >= 1',
  'context.input has currency',
  'context.attempt < 3',
  'context.environment == "staging"',
  'context.time.hour >= 22 || context.time.weekday > 5',
  'context.riskScore > 500',
  'context.previousDenials.byPeople >= 1',
  'context.agentSuspended && !context.compensation',
);
const policies = fc
  .array(fc.tuple(fc.constantFrom('permit', 'forbid'), scopes, resources, fc.array(conditions, { maxLength: 2 })), {
    minLength: 1,
    maxLength: 12,
  })
  .map((drawn) =>
    drawn.map(([effect, action, resource, when], index) => {
      const clauses = when.map((condition) => ` when { ${condition} }`).join('');
      return `@id("p${index}") ${effect}(principal, ${action}, ${resource})${clauses};`;
    }),
  );
const requests = fc.record({
  capability: fc.constantFrom(...ACTIONS),
  amountMinor: fc.constantFrom(0, 1, 6, 7),
  roles: fc.subarray(['harness', 'auditor']),
  attempt: fc.integer({ min: 1, max: 4 }),
  count: fc.integer({ min: 0, max: 1 }),
  environment: fc.constantFrom('production', 'staging'),
  riskScore: fc.constantFrom(100, 501),
  agentSuspended: fc.boolean(),
  compensation: fc.boolean(),
  previousDenials: fc.record({ byPeople: fc.nat(1), byPolicy: fc.nat(1) }),
  nowMs: fc.constantFrom(1_700_000_000_000, 1_700_000_000_000 + 5 * 3_600_000),
});

function checkedSet(texts: readonly string[]): PolicySet | null {
  const capabilities = ACTIONS.map((name) => capability({ name }));
  const checked = checkPolicies(cedar, candidate(texts.join('\n'), { capabilities, approverGroups: GROUPS }));
  return checked.ok ? checked.set : null;
}

describe('a shard', () => {
  it('gives for every request the answer, the reasons and the errors that the whole set gives', () => {
    let compared = 0;
    fc.assert(
      fc.property(policies, fc.array(requests, { minLength: 1, maxLength: 6 }), (texts, drawn) => {
        // A set that contradicts itself (a scope that excludes its own resource) is refused as a whole: nothing to compare.
        const set = checkedSet(texts);
        if (set === null) return;
        const engine = new CedarEngine(cedar);
        expect(engine.activate(set)).toEqual([]);
        for (const { amountMinor, count, ...rest } of drawn) {
          compared += 1;
          const approvals = { finance: { count, includesRequester: false } };
          const asked = request({ ...rest, input: { orderId: 'o', amountMinor }, approvals });
          const shard = engine.active?.evaluation(asked)(approvals);
          const whole = wholeAnswer(set, asked);
          expect(
            shard?.kind === 'failed' ? shard : { ...shard, determining: [...(shard?.determining ?? [])].toSorted() },
          ).toEqual(whole);
        }
      }),
      { numRuns: 60 },
    );
    expect(compared).toBeGreaterThan(20);
  });

  it('gives the same decision again from the request as it was recorded', () => {
    let compared = 0;
    fc.assert(
      fc.property(policies, fc.array(requests, { minLength: 1, maxLength: 4 }), (texts, drawn) => {
        const limited = texts.map((text) => text.replace(') permit(', `) @limit("${LIMIT}") permit(`));
        const set = checkedSet(limited);
        if (set === null) return;
        const engine = new CedarEngine(cedar);
        expect(engine.activate(set)).toEqual([]);
        for (const { amountMinor, count, ...rest } of drawn) {
          const approvals = { finance: { count, includesRequester: false } };
          const asked = request({ ...rest, input: { orderId: 'o', amountMinor }, approvals });
          const decided = evaluateWith(engine.active, asked);
          const { input, ...recorded } = asked;
          const replayed = JSON.parse(JSON.stringify(recorded)) as typeof recorded;
          expect(evaluateWith(engine.active, { ...replayed, input })).toEqual(decided);
          if (decided.reservations !== undefined) compared += 1;
        }
      }),
      { numRuns: 30 },
    );
    expect(compared).toBeGreaterThan(5);
  });

  /** Cedar itself, with all policies, the whole schema and no preparsing. */
  function wholeAnswer(set: PolicySet, asked: ReturnType<typeof request>) {
    const known = set.capabilities[asked.capability];
    if (known === undefined) throw new Error('the capability is known');
    const { entities, context, principal, action, resource } = encodeRequest(asked, known.shape, known.needs);
    const answer = cedar.isAuthorized({
      principal,
      action,
      resource,
      entities: [...entities],
      context: { ...context, approvals: encodeApprovals(asked.approvals, GROUPS) },
      schema: set.schema as unknown as Schema,
      validateRequest: true,
      policies: {
        staticPolicies: Object.fromEntries(set.policies.map(({ annotations, text }) => [annotations.id, text])),
      },
    });
    if (answer.type !== 'success') throw new Error('the whole set answers');
    const { decision, diagnostics } = answer.response;
    if (diagnostics.errors.length > 0) {
      return {
        kind: 'failed',
        errors: diagnostics.errors.map(({ policyId }) => `policy_error:${policyId}`).toSorted(),
      };
    }
    return { kind: decision, determining: diagnostics.reason.toSorted() };
  }
});
