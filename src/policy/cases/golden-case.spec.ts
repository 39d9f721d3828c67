import { describe, expect, it } from '@jest/globals';
import { refundCapability } from '../../../test/builders/installation.js';
import type { PolicyDecision, PolicyRequest } from '../core/policy-types.js';
import { readCases, type GoldenCase } from './golden-case.js';
import { requestOf, runCase, type Mismatch } from './run-case.js';

const CASE = `
- name: a small refund
  capability: refund.create
  request: { sub: sam, act: bot, input: { orderId: o-1, amountMinor: 100 } }
  expect: { outcome: allow }
`;
const withFact = (fact: string): string => CASE.replace('act: bot', `act: bot, ${fact}`);
const read = (text: string): readonly GoldenCase[] => {
  const cases = readCases(text);
  if (!cases.ok) throw new Error(cases.problems.join('\n'));
  return cases.cases;
};
const problemsOf = (text: string): readonly string[] => {
  const cases = readCases(text);
  return cases.ok ? [] : cases.problems;
};

const CAPABILITY = refundCapability();
const ALLOWED: PolicyDecision = {
  outcome: 'allow',
  reasons: ['fine'],
  denyCode: null,
  determining: ['a', 'b'],
  obligations: null,
  engineErrors: [],
  policyRevision: 'r',
  schemaDigest: 's',
  engineVersion: 'e',
  requestDigest: 'd',
};
const ASKED: PolicyDecision = {
  ...ALLOWED,
  outcome: 'requires_confirmation',
  obligations: {
    rules: [
      { group: 'finance', count: 2, notRequester: true },
      { group: 'support-lead', count: 1, notRequester: true },
    ],
    decideWithinMs: 1,
    executionWindowMs: 1,
  },
};

const caseWith = (expected: object, request: object = {}): GoldenCase => {
  const [golden] = read(CASE);
  if (golden === undefined) throw new Error('no case');
  return { ...golden, request: { ...golden.request, ...request }, expect: expected as GoldenCase['expect'] };
};
const run = (golden: GoldenCase, got: PolicyDecision = ALLOWED): Promise<Mismatch[]> =>
  runCase(golden, CAPABILITY, async () => got);

describe('a file of golden cases', () => {
  it('is a list of what is asked and what is expected', () => {
    expect(read(CASE)).toMatchObject([{ name: 'a small refund', expect: { outcome: 'allow' } }]);
  });

  it.each([
    [
      'a misspelt expectation',
      CASE.replace('outcome: allow', 'outcome: allow, determinig: [x]'),
      '/0/expect/determinig: unknown field',
    ],
    ['a misspelt fact', CASE.replace('act: bot', 'agent: bot'), '/0/request/agent: unknown field'],
    ['an outcome that there is not', CASE.replace('outcome: allow', 'outcome: maybe'), '/0/expect/outcome'],
    ['a case without a request', '- name: x\n  capability: c\n  expect: { outcome: deny }\n', '/0/request'],
    ['a time without a zone', CASE.replace('act: bot', 'at: "2031-01-01T00:00:00"'), '/0/request/at'],
    ['a counter that counts no whole number', withFact('counters: { spend.day: 1.5 }'), '/0/request/counters'],
    ['a risk score that there is not', withFact('riskScore: 1001'), '/0/request/riskScore'],
    ['denials of nobody', withFact('previousDenials: { byPeople: 1 }'), '/0/request/previousDenials'],
    ['a fact that is a word', withFact('agentSuspended: "yes"'), '/0/request/agentSuspended'],
    [
      'a limit without its most',
      CASE.replace('outcome: allow', 'outcome: allow, limits: { a.day: { add: 1 } }'),
      'max',
    ],
    ['no case at all', '[]', '(list)'],
    ['what is no list', 'name: x', '(list)'],
    ['what is no YAML', '- {', 'YAML'],
    ['a key that is said twice', CASE.replace('act: bot', 'act: bot, act: other'), 'act'],
  ])('is refused for %s, with the place', (_, text, problem) => {
    expect(problemsOf(text).join('\n')).toContain(problem);
  });

  it('says the line of what is wrong', () => {
    expect(problemsOf(CASE.replace('act: bot', 'agent: bot'))[0]).toMatch(/^4 /);
  });
});

describe('the request of a case', () => {
  const request = (more: object = {}): PolicyRequest =>
    requestOf(caseWith({ outcome: 'allow' }, more), CAPABILITY, { orderId: 'o-1' });

  it('is that of an ordinary call where the case does not say', () => {
    expect(request()).toEqual({
      tenant: 'acme',
      sub: 'sam',
      act: 'bot',
      roles: ['harness'],
      capability: 'refund.create',
      capabilityVersion: CAPABILITY.manifest.version,
      risk: CAPABILITY.manifest.risk,
      effect: CAPABILITY.manifest.effect,
      input: { orderId: 'o-1' },
      approvals: {},
      attempt: 1,
      reasoningPresent: false,
      allowDuplicateIntent: false,
      nowMs: Date.parse('2031-01-01T12:00:00Z'),
    });
  });

  it('takes every fact that the case states', () => {
    const stated = {
      tenant: 'globex',
      roles: ['operator'],
      approvals: { finance: { count: 2 } },
      attempt: 3,
      at: '2031-06-01T23:30:00+02:00',
      reasoningPresent: true,
      allowDuplicateIntent: true,
      riskScore: 80,
      counters: { 'spend.day': 4 },
      environment: 'staging',
      previousDenials: { byPeople: 1, byPolicy: 2 },
      agentSuspended: true,
      compensation: true,
      breakGlass: true,
    };
    const { at: _, approvals: __, ...same } = stated;
    expect(request(stated)).toMatchObject({
      ...same,
      approvals: { finance: { count: 2, includesRequester: false } },
      nowMs: Date.parse('2031-06-01T21:30:00Z'),
    });
  });
});

describe('the time of a case', () => {
  it('is the wall clock in the zone of the settings', () => {
    const golden = caseWith({ outcome: 'allow' }, { at: '2031-06-01T22:30:00Z' });
    const { time } = requestOf(golden, CAPABILITY, {}, 'Europe/Berlin');
    expect(time).toEqual({ hour: 0, minute: 30, weekday: 1, dayOfMonth: 2, month: 6 });
  });
});

describe('a budget of a case', () => {
  const key = 'limit/2031-01-02T00:00:00.000Z/spend.day/{"principal":["sam","bot"]}';
  const taking: PolicyDecision = { ...ALLOWED, reservations: [{ key, add: 100, max: 500 }] };
  const spent = (amount: number, expected: object) => caseWith(expected, { counters: { 'spend.day': amount } });

  it('that has room is taken of', async () => {
    const limits = { 'spend.day': { add: 100, max: 500 } };
    expect(await run(spent(400, { outcome: 'allow', limits }), taking)).toEqual([]);
    expect(await run(caseWith({ outcome: 'allow', limits }), taking)).toEqual([]);
  });

  it('that is full denies, and nothing is taken', async () => {
    const expected = { outcome: 'deny', denyCode: 'budget_exceeded', limits: {} };
    expect(await run(spent(401, expected), taking)).toEqual([]);
    expect(await run(spent(400, expected), taking)).toHaveLength(3);
  });

  it('is compared in the amount, in the most, and in which there are', async () => {
    for (const limits of [{}, { 'spend.day': { add: 99, max: 500 } }, { 'spend.day': { add: 100, max: 501 } }]) {
      expect(await run(caseWith({ outcome: 'allow', limits }), taking)).toMatchObject([{ what: 'limits' }]);
    }
  });
});

describe('the people of a case', () => {
  const quorum = (expected: Record<string, number>) => caseWith({ outcome: 'requires_confirmation', quorum: expected });
  const escalated: PolicyDecision = {
    ...ASKED,
    obligations: {
      rules: [{ group: 'finance', count: 1, notRequester: true, escalation: { group: 'board', afterMs: 60_000 } }],
      decideWithinMs: 1,
      executionWindowMs: 1,
    },
  };

  it('are all groups where it names them by group, in any order', async () => {
    expect(await run(quorum({ 'support-lead': 1, finance: 2 }), ASKED)).toEqual([]);
    expect(await run(quorum({ finance: 2 }), ASKED)).toMatchObject([{ what: 'quorum' }]);
  });

  it('are those it escalates to, and when', async () => {
    const expecting = (afterSeconds: number) =>
      caseWith({ outcome: 'requires_confirmation', escalation: { group: 'board', afterSeconds } });
    expect(await run(expecting(60), escalated)).toEqual([]);
    expect(await run(expecting(61), escalated)).toMatchObject([{ what: 'escalation' }]);
    expect(await run(expecting(60), ASKED)).toMatchObject([{ what: 'escalation', got: null }]);
  });
});

describe('a case', () => {
  it('passes when everything it names is as it says, and nothing else matters', async () => {
    expect(await run(caseWith({ outcome: 'allow' }))).toEqual([]);
    expect(await run(caseWith({ outcome: 'allow', determining: ['b', 'a'], reasons: ['fine'] }))).toEqual([]);
    expect(await run(caseWith({ outcome: 'requires_confirmation', group: 'finance', quorum: 2 }), ASKED)).toEqual([]);
  });

  it.each<[string, object, PolicyDecision, string]>([
    ['the outcome', { outcome: 'deny' }, ALLOWED, 'outcome'],
    ['the code', { outcome: 'allow', denyCode: 'forbidden' }, ALLOWED, 'denyCode'],
    ['the reasons', { outcome: 'allow', reasons: [] }, ALLOWED, 'reasons'],
    ['what determines', { outcome: 'allow', determining: ['a'] }, ALLOWED, 'determining'],
    ['the group', { outcome: 'requires_confirmation', group: 'legal' }, ASKED, 'group'],
    ['the quorum', { outcome: 'requires_confirmation', group: 'support-lead', quorum: 2 }, ASKED, 'quorum'],
    ['a group that it does not name', { outcome: 'requires_confirmation', quorum: 2 }, ASKED, 'group'],
    ['an engine that failed', { outcome: 'allow' }, { ...ALLOWED, engineErrors: ['engine_threw'] }, 'engineErrors'],
  ])('fails for %s, with what was expected and what came', async (_, expected, got, what) => {
    const wrong = await run(caseWith(expected), got);
    expect(wrong.map((each) => each.what)).toContain(what);
    for (const each of wrong) expect(Object.keys(each)).toEqual(['what', 'expected', 'got']);
  });

  it('fails when its arguments do not fit the manifest: no call would ever be judged so', async () => {
    const wrong = await run(caseWith({ outcome: 'allow' }, { input: { orderId: 'o-1', amountMinor: 'ten' } }));
    expect(wrong).toMatchObject([{ what: 'input' }]);
  });

  it('fails when its capability is not there', async () => {
    expect(await runCase(caseWith({ outcome: 'allow' }), undefined, async () => ALLOWED)).toMatchObject([
      { what: 'capability', expected: 'refund.create' },
    ]);
  });
});
