import { describe, expect, it } from '@jest/globals';
import { LimitingPolicy } from '../../../test/builders/budgets.js';
import { Installation, TENANT } from '../../../test/builders/installation.js';
import { settingsWith } from '../../../test/builders/settings-examples.js';
import { NO_FACTS, type FactName, type FactNeeds } from '../core/facts.js';
import { counterKey } from '../core/limits.js';
import type { PolicyRequest } from '../core/policy-types.js';
import { riskScore } from '../core/risk-score.js';
import { circumstancesOf } from './fact-reader.js';

const needing = (...facts: readonly FactName[]): FactNeeds => ({
  facts,
  counters: [{ counter: 'spend.day', by: ['principal', 'capability'] }],
  run: false,
});

/** What the policy was asked about one more proposal. */
async function askedOf(installation: Installation, needs: FactNeeds): Promise<PolicyRequest> {
  installation.policy.needs = needs;
  await installation.propose();
  const asked = installation.policy.asked.at(-1);
  if (asked === undefined) throw new Error('the policy was asked');
  return asked;
}

describe('facts for a decision', () => {
  it('are not gathered where nothing reads them', async () => {
    const installation = new Installation();
    const asked = await askedOf(installation, NO_FACTS);
    expect(Object.keys(asked).toSorted()).toEqual([
      'act',
      'allowDuplicateIntent',
      'approvals',
      'attempt',
      'capability',
      'capabilityVersion',
      'effect',
      'input',
      'nowMs',
      'reasoningPresent',
      'risk',
      'roles',
      'sub',
      'tenant',
    ]);
  });

  it('are recorded with the decision as they were read', async () => {
    const installation = new Installation();
    const asked = await askedOf(installation, needing('environment', 'time', 'compensation', 'agentSuspended'));
    const decided = installation.store.events.find(({ envelope }) => envelope.eventType === 'policy.decided');
    expect(decided?.payload['request']).toMatchObject({
      environment: 'production',
      time: { hour: 10, minute: 0, weekday: 3, dayOfMonth: 1, month: 1 },
      compensation: false,
      agentSuspended: false,
    });
    const { input, ...rest } = asked;
    expect(decided?.payload['request']).toEqual(rest);
    expect(input).toMatchObject({ orderId: 'o-1', amountMinor: 500 });
  });

  it('are of the environment and the zone that the settings name', async () => {
    const settings = settingsWith({ installation: { environment: 'staging' }, policy: { timeZone: 'Asia/Tokyo' } });
    const asked = await askedOf(new Installation({ settings }), needing('environment', 'time'));
    expect(asked).toMatchObject({ environment: 'staging', time: { hour: 19 } });
  });

  it('name the run only where a limit counts by run', async () => {
    const installation = new Installation();
    const asked = await askedOf(installation, { facts: [], counters: [], run: true });
    expect(asked.runId).toBe(installation.store.rows('runs')[0]?.run_id);
  });
});

describe('a counter as a fact', () => {
  const budgeted = (): Installation => new Installation({ policy: new LimitingPolicy() });
  const limiting = needing('counters');

  it('is what all calls before hold', async () => {
    const installation = budgeted();
    await installation.propose({ arguments: { orderId: 'o-0', amountMinor: 300 } });
    expect(await askedOf(installation, limiting)).toMatchObject({ counters: { 'spend.day': 300 } });
  });

  it('is 0 where nothing was counted in this window yet', async () => {
    const installation = budgeted();
    await installation.propose({ arguments: { orderId: 'o-0', amountMinor: 300 } });
    installation.clock.advance(86_400_000);
    expect(await askedOf(installation, limiting)).toMatchObject({ counters: { 'spend.day': 0 } });
  });

  it('means the same at dispatch: what the call holds itself is left out', async () => {
    const installation = budgeted();
    await installation.propose({ arguments: { orderId: 'o-0', amountMinor: 300 } });
    const id = await installation.authorized({ idempotencyKey: 'x', arguments: { orderId: 'o-1', amountMinor: 500 } });
    installation.policy.needs = limiting;
    const call = await installation.call(id);
    const papers = await installation.judge.open(call);
    const { request } = await installation.judge.decide(papers.request, circumstancesOf(call));
    expect(request.counters).toEqual({ 'spend.day': 300 });
    const key = counterKey({ counter: 'spend.day', by: ['principal', 'capability'] }, request);
    expect(await installation.store.read.counter(TENANT, key)).toBe(800);
  });
});

describe('what was denied before', () => {
  const denials = needing('previousDenials');

  it('counts by who denied it, for the same intent only', async () => {
    const installation = new Installation();
    installation.policy.deny('no');
    await installation.propose();
    await installation.propose();
    await installation.propose({ arguments: { orderId: 'o-2', amountMinor: 1 } });
    installation.policy.allow();
    expect(await askedOf(installation, denials)).toMatchObject({ previousDenials: { byPeople: 0, byPolicy: 2 } });
  });

  it('is people’s where people said no', async () => {
    const installation = new Installation();
    installation.policy.deny('no');
    const id = await installation.propose();
    const { row } = await installation.call(id);
    installation.store.seed('tool_calls', { ...row, status_reason: 'approval' });
    installation.policy.allow();
    expect(await askedOf(installation, denials)).toMatchObject({ previousDenials: { byPeople: 1, byPolicy: 0 } });
  });

  it('is forgotten after the time of the settings', async () => {
    const installation = new Installation();
    installation.policy.deny('no');
    await installation.propose();
    installation.policy.allow();
    installation.clock.advance(86_400_001);
    expect(await askedOf(installation, denials)).toMatchObject({ previousDenials: { byPeople: 0, byPolicy: 0 } });
  });
});

describe('the risk of a call', () => {
  it('is computed from what is recorded with it, so it can be computed again', async () => {
    const installation = new Installation();
    const first = await askedOf(installation, needing('riskScore'));
    expect(first.riskInputs).toEqual({ denials: { byPeople: 0, byPolicy: 0 }, firstUse: true });
    expect(first.riskInputs === undefined ? null : riskScore(first, first.riskInputs)).toBe(first.riskScore);
  });

  it('falls with the second use, and the call itself is no earlier use', async () => {
    const installation = new Installation();
    const id = await installation.authorized({ idempotencyKey: 'x' });
    installation.policy.needs = needing('riskScore');
    const call = await installation.call(id);
    const papers = await installation.judge.open(call);
    const own = await installation.judge.decide(papers.request, circumstancesOf(call));
    expect(own.request.riskInputs?.firstUse).toBe(true);
    await installation.propose({ arguments: { orderId: 'o-2', amountMinor: 1 } });
    expect(installation.policy.asked.at(-1)?.riskInputs?.firstUse).toBe(false);
  });
});
