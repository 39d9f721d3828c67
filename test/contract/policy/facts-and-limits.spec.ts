import { beforeAll, describe, expect, it } from '@jest/globals';
import { canonicalRequest } from '../../../src/policy/core/canonical-request.js';
import { NO_FACTS, type FactNeeds } from '../../../src/policy/core/facts.js';
import { InProcessPolicyEvaluator } from '../../../src/policy/engine/in-process-policy-evaluator.js';
import type { LoadReport } from '../../../src/policy/engine/policy-set.js';
import { candidate, PERMIT_ALL, request } from './policy-fixtures.js';

let evaluator: InProcessPolicyEvaluator;

beforeAll(async () => {
  evaluator = await InProcessPolicyEvaluator.create();
});

const load = (text: string): Promise<LoadReport> => evaluator.load(candidate(text));
const needs = (action = 'refund.create'): FactNeeds | undefined => evaluator.active?.capabilities[action]?.needs;
const permit = (id: string, limit: string, action = 'action == Action::"refund.create"'): string =>
  `@id("${id}") @limit("${limit}") permit(principal, ${action}, resource);`;
const SPEND = 'counter=spend.day;by=principal;add=input.amountMinor;max=5000';

describe('the facts that policies read', () => {
  it('are known for each action when a set is loaded, and what nothing reads is no part of its schema', async () => {
    await load(`${PERMIT_ALL} @id("f") forbid(principal, action == Action::"refund.create", resource)
      when { context.environment == "staging" || context.time.hour > 22 };`);
    expect(needs()).toMatchObject({ facts: ['environment', 'time'] });
    expect(needs('order.read')).toEqual(NO_FACTS);
    const { schemaDigest } = evaluator.active ?? {};
    await load(PERMIT_ALL);
    expect(evaluator.active?.schemaDigest).not.toBe(schemaDigest);
    expect(needs()).toEqual(NO_FACTS);
  });

  it('of a global policy are those of every action', async () => {
    await load(`${PERMIT_ALL} @id("f") forbid(principal, action, resource) when { context.agentSuspended };`);
    expect([needs()?.facts, needs('order.read')?.facts]).toEqual([['agentSuspended'], ['agentSuspended']]);
  });

  it('that are misspelt, and counters that no limit declares, are refused', async () => {
    for (const condition of [
      'context.enviroment == "x"',
      'context.counters["spend.day"] > 1',
      'context.time.second > 1',
    ]) {
      const report = await load(
        `${PERMIT_ALL} @id("f") forbid(principal, action == Action::"refund.create", resource) when { ${condition} };`,
      );
      expect(report.problems.map(({ code }) => code)).toContain('validation');
    }
  });

  it('decide', async () => {
    await load(`${permit('p', SPEND)} @id("f") forbid(principal, action == Action::"refund.create", resource)
      when { context.counters["spend.day"] > 10 || context.riskScore > 700 || context.previousDenials.byPolicy > 2 };`);
    const outcome = async (facts: object) => (await evaluator.decide(canonicalRequest(request(facts)))).outcome;
    expect(await outcome({})).toBe('allow');
    expect(await outcome({ counters: { 'spend.day': 10 }, riskScore: 700 })).toBe('allow');
    expect(await outcome({ counters: { 'spend.day': 11 } })).toBe('deny');
    expect(await outcome({ riskScore: 701 })).toBe('deny');
    expect(await outcome({ previousDenials: { byPeople: 0, byPolicy: 3 } })).toBe('deny');
  });
});

describe('a limit', () => {
  it.each([
    [
      'is refused on a forbid',
      `${PERMIT_ALL} @id("f") @limit("${SPEND}") forbid(principal, action, resource) when { context.attempt > 1 };`,
      'annotation',
    ],
    ['is refused when it is not understood', permit('p', SPEND.replace('max=', 'most=')), 'annotation'],
    ['cannot add a text', permit('p', SPEND.replace('amountMinor', 'orderId')), 'limit'],
    ['cannot add what there is not', permit('p', SPEND.replace('amountMinor', 'amount')), 'limit'],
    ['of a global permit needs its argument in every capability', permit('p', SPEND, 'action'), 'limit'],
    [
      'cannot count one counter by others',
      `${permit('p', SPEND)} ${permit('q', SPEND.replace('principal', 'agent'))}`,
      'limit',
    ],
    [
      'cannot add something else to one counter',
      `${permit('p', SPEND)} ${permit('q', SPEND.replace('input.amountMinor', '1'))}`,
      'limit',
    ],
  ])('%s', async (_, text, code) => {
    const report = await load(text);
    expect(report).toMatchObject({ accepted: false, problems: [expect.objectContaining({ code })] });
  });

  it('may stand on several permits with maxima of their own, of which the strictest counts', async () => {
    const report = await load(`${permit('p', SPEND)} ${permit('q', SPEND.replace('5000', '900'))}`);
    expect(report.problems).toEqual([]);
    const { reservations } = await evaluator.decide(canonicalRequest(request()));
    expect(reservations).toEqual([{ key: expect.stringContaining('/spend.day/'), add: 1200, max: 900 }]);
  });

  it('by run makes the request name its run', async () => {
    await load(permit('p', 'counter=calls.hour;by=run;add=1;max=3'));
    expect(needs()?.run).toBe(true);
    const { reservations = [] } = await evaluator.decide(canonicalRequest(request({ runId: 'run_1' })));
    expect(reservations[0]?.key).toContain('{"run":"run_1"}');
  });
});
