import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { StatefulAuthorizationCall } from '@cedar-policy/cedar-wasm/nodejs';
import type { Cedar } from '../../../src/policy/engine/cedar-module.js';
import { loadCedar } from '../../../src/policy/engine/cedar-module.js';
import { CedarEngine } from '../../../src/policy/engine/cedar.engine.js';
import { checkPolicies } from '../../../src/policy/engine/check-policies.js';
import { evaluateWith } from '../../../src/policy/engine/evaluate.js';
import { InProcessPolicyEvaluator } from '../../../src/policy/engine/in-process-policy-evaluator.js';
import type { PolicyCandidate } from '../../../src/policy/engine/policy-set.js';
import { PERMIT_ALL, REFUNDS, candidate, canonical, request } from './policy-fixtures.js';

type Authorize = Cedar['statefulIsAuthorized'];

let cedar: Cedar;

beforeAll(async () => {
  cedar = await loadCedar();
});

function engineWith(given: PolicyCandidate, over: Partial<Cedar> = {}): CedarEngine {
  const checked = checkPolicies(cedar, given);
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  const engine = new CedarEngine({ ...cedar, ...over });
  expect(engine.activate(checked.set)).toEqual([]);
  return engine;
}

const decideWith = (engine: CedarEngine, over: Parameters<typeof request>[0] = {}) =>
  evaluateWith(engine.active, request(over));
const amount = (amountMinor: number) => ({ input: { orderId: 'o', amountMinor } });

describe('what was measured about the engine, and what we make of it', () => {
  it('a forbid that errors is skipped by Cedar and turns into an allow; here it is a denial', () => {
    const overflowing = `${PERMIT_ALL} @id("f") forbid(principal, action == Action::"refund.create", resource)
      when { context.input.amountMinor * 4611686018427387904 > 5 };`;
    let raw: string | undefined;
    const engine = engineWith(candidate(overflowing), {
      statefulIsAuthorized: (call) => {
        const answer = cedar.statefulIsAuthorized(call);
        raw = answer.type === 'success' ? answer.response.decision : answer.type;
        return answer;
      },
    });
    const decision = decideWith(engine, amount(424242));
    expect(raw).toBe('allow');
    expect(decision).toMatchObject({ outcome: 'deny', denyCode: 'engine_error', engineErrors: ['policy_error:f'] });
    expect(decideWith(engine, amount(0)).outcome).toBe('allow');
  });

  it("error texts repeat the request's values; ours hold ids and code words only", () => {
    const overflowing = `@id("p") permit(principal, action == Action::"refund.create", resource)
      when { context.input.amountMinor * 4611686018427387904 > 5 };`;
    const decision = decideWith(engineWith(candidate(overflowing)), amount(424242));
    expect(decision.engineErrors).toEqual(['policy_error:p']);
    expect(JSON.stringify(decision)).not.toContain('424242');
  });

  it.each<[string, Authorize, string]>([
    ['a failure', () => ({ type: 'failure', errors: [], warnings: [] }), 'engine_failure'],
    ['an answer with another word', () => answered('maybe', ['permit-all']), 'impossible_answer'],
    ['an allow that no policy gave', () => answered('allow', []), 'impossible_answer'],
    ['an allow by a policy nobody knows', () => answered('allow', ['other']), 'unknown_determining_policy'],
    ['nothing at all', () => undefined as never, 'engine_threw'],
    ['a throw', thrower(new Error('secret')), 'engine_threw'],
    ['a trap', thrower(named('RuntimeError')), 'engine_trapped'],
    ['an exhausted stack', thrower(named('RangeError')), 'engine_trapped'],
    ['a throw of something strange', thrower('secret'), 'engine_trapped'],
  ])('%s is a denial', (_, faulty, code) => {
    const checked = checkPolicies(cedar, candidate(PERMIT_ALL));
    if (!checked.ok) throw new Error('the candidate is good');
    let broken = false;
    const engine = new CedarEngine({
      ...cedar,
      statefulIsAuthorized: (call) => (broken ? faulty : cedar.statefulIsAuthorized)(call),
    });
    expect(engine.activate(checked.set)).toEqual([]);
    expect(decideWith(engine).outcome).toBe('allow');
    broken = true;
    const decision = decideWith(engine);
    expect(decision).toMatchObject({ outcome: 'deny', denyCode: 'engine_error', engineErrors: [code] });
    expect(engine.selfTest()).toBe(false);
    expect(engine.dead).toBe(code === 'engine_trapped');
    broken = false;
    expect(decideWith(engine).engineErrors).toEqual(engine.dead ? ['engine_dead'] : []);
  });

  it('every evaluation has the schema, request validation, the principal and the resource', () => {
    const calls: StatefulAuthorizationCall[] = [];
    const engine = engineWith(candidate(REFUNDS), {
      statefulIsAuthorized: (call) => {
        calls.push(call);
        return cedar.statefulIsAuthorized(call);
      },
    });
    calls.length = 0;
    decideWith(engine, amount(6000));
    expect(calls).toHaveLength(2);
    for (const call of calls) {
      expect(call.validateRequest).toBe(true);
      expect(call.preparsedSchemaName).toEqual(expect.any(String));
      expect(call.entities.map(({ uid }) => uid)).toEqual([call.principal, call.resource]);
    }
  });

  it('an engine that answers its self-test wrongly gets no policies', () => {
    const checked = checkPolicies(cedar, candidate(PERMIT_ALL));
    if (!checked.ok) throw new Error('the candidate is good');
    const engine = new CedarEngine({ ...cedar, statefulIsAuthorized: () => answered('allow', ['permit']) });
    expect(engine.activate(checked.set).map(({ code }) => code)).toEqual(['self_test']);
    expect(engine.active).toBeNull();
  });

  it.each([
    ['half a surrogate pair', '{"orderId":"\\ud800","amountMinor":1}'],
    ['a fraction', '{"orderId":"o","amountMinor":1.5}'],
    ['a number beyond 2^53', '{"orderId":"o","amountMinor":9007199254740993}'],
    ['an entity for text', '{"orderId":{"__entity":{"type":"Principal","id":"root"}},"amountMinor":1}'],
    ['an unknown for a number', '{"orderId":"o","amountMinor":{"__extn":{"fn":"unknown","arg":"x"}}}'],
    ['a missing argument', '{"orderId":"o"}'],
    ['null', '{"orderId":null,"amountMinor":1}'],
  ])('%s never reaches the engine and is a denial', async (_, input) => {
    const evaluator = await InProcessPolicyEvaluator.create();
    await evaluator.load(candidate(PERMIT_ALL));
    const { text } = canonical();
    const forged = { text: text.replace(/"input":\{[^}]*\}/, `"input":${input}`), digest: 'sha256:x' };
    expect(JSON.parse(forged.text)).toHaveProperty('input');
    expect(await evaluator.decide(forged)).toMatchObject({
      outcome: 'deny',
      denyCode: 'engine_error',
      engineErrors: ['request_unreadable'],
    });
    expect((await evaluator.decide(canonical())).outcome).toBe('allow');
  });

  it('a bigint never reaches the engine', () => {
    const engine = engineWith(candidate(PERMIT_ALL));
    const decision = decideWith(engine, { input: { orderId: 'o', amountMinor: 5n as never } });
    expect(decision.engineErrors).toEqual(['request_unreadable']);
    expect(engine.dead).toBe(false);
  });

  it('a capability or a version the policies were not made for is a denial', () => {
    const engine = engineWith(candidate(PERMIT_ALL));
    expect(decideWith(engine, { capability: 'other' }).engineErrors).toEqual(['unknown_capability']);
    expect(decideWith(engine, { capability: 'constructor' }).engineErrors).toEqual(['unknown_capability']);
    expect(decideWith(engine, { capabilityVersion: '2.0.0' }).engineErrors).toEqual(['capability_version_mismatch']);
  });

  it('policies are known by their own ids, wherever they stand', () => {
    const engine = engineWith(
      candidate(`@id("z") permit(principal, action, resource); @id("a") permit(principal, action, resource);`),
    );
    expect(decideWith(engine).determining).toEqual(['a', 'z']);
  });

  it('what policies may read is what the schema says', () => {
    const engine = engineWith(
      candidate(`@id("p") permit(principal, action == Action::"refund.create", resource) when {
        principal.sub == "alice" && principal has agent && principal.agent == "bot" && principal.tenant == "acme" &&
        principal.roles.contains("harness") && principal == Principal::"alice" &&
        resource.name == "refund.create" && resource.version == "1.0.0" && resource.risk == "low" && resource.effect == "probeable" &&
        resource == Capability::"refund.create" &&
        context.input.orderId == "o" && context.input.amountMinor == 0 && !(context.input has currency) &&
        context.input has tags && context.input.tags.containsAll(["a", "b"]) &&
        context.input has customer && context.input.customer has name && context.input.customer.name == "n" &&
        context.attempt == 3 && context.nowMs == 1700000000000 && context.reasoning.present && context.allowDuplicateIntent &&
        context.approvals.finance.count == 2 && context.approvals.finance.includesRequester &&
        context.approvals["support-lead"].count == 0 };`),
    );
    const read = {
      input: { orderId: 'o', amountMinor: -0, tags: ['b', 'a', 'b'], customer: { name: 'n' } },
      attempt: 3,
      reasoningPresent: true,
      allowDuplicateIntent: true,
      approvals: { finance: { count: 2, includesRequester: true } },
    };
    expect(decideWith(engine, read).outcome).toBe('allow');
    expect(decideWith(engine, { ...read, attempt: 4 }).denyCode).toBe('no_permit');
  });
});

describe('policies that would kill the engine', () => {
  let evaluator: InProcessPolicyEvaluator;

  beforeEach(async () => {
    evaluator = await InProcessPolicyEvaluator.create();
  });

  const { nested, joined } = {
    nested: (depth: number) =>
      `@id("a") permit(principal, action, resource) when { ${'('.repeat(depth)}true${')'.repeat(depth)} };`,
    joined: (terms: number) =>
      `@id("a") permit(principal, action, resource) when { ${Array(terms).fill('context.attempt == 7').join(' || ')} };`,
  };

  it.each([
    ['nested brackets', nested(300)],
    ['joined terms', joined(1000)],
  ])(
    '%s: without that look the instance is lost, which is noticed: everything is denied from then on',
    async (_, text) => {
      expect((await evaluator.load(candidate(PERMIT_ALL))).accepted).toBe(true);
      const report = await evaluator.load(candidate(text));
      expect(report.problems.map(({ code }) => code)).toEqual(['engine_crashed']);
      expect(await evaluator.decide(canonical())).toMatchObject({ outcome: 'deny', engineErrors: ['engine_dead'] });
      expect(await evaluator.probe()).toBe(false);
      expect((await evaluator.load(candidate(PERMIT_ALL))).accepted).toBe(false);
    },
  );
});

function answered(decision: string, reason: string[]): ReturnType<Authorize> {
  return {
    type: 'success',
    response: { decision: decision as 'allow', diagnostics: { reason, errors: [] } },
    warnings: [],
  };
}

function thrower(what: unknown): () => never {
  return () => {
    throw what;
  };
}

function named(name: string): Error {
  return Object.assign(new Error('secret'), { name });
}
