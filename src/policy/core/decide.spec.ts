import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Ask, PolicyAnnotations } from './annotations.js';
import type { EngineAnswer, Verdict } from './decide.js';
import { ROUNDS_MAX, decide, overBudget } from './decide.js';
import type { Limit } from './limits.js';
import type { ApprovalFacts } from './obligations.js';
import { factsOnceGiven } from './obligations.js';
import type { PolicyRequest } from './policy-types.js';

const DEFAULTS = { decideWithinMs: 1000, executionWindowMs: 2000 };

/** A policy of a toy engine: it applies when `when` holds for the votes. */
interface ToyPolicy extends PolicyAnnotations {
  readonly when: (votes: ApprovalFacts) => boolean;
}

const always = (): boolean => true;
const votesOf = (votes: ApprovalFacts, group: string) => votes[group] ?? { count: 0, includesRequester: false };

function permit(id: string, when: ToyPolicy['when'] = always, reason: string | null = null): ToyPolicy {
  return { id, effect: 'permit', reason, ask: null, unattended: null, lease: null, limits: [], when };
}

function forbid(id: string, when: ToyPolicy['when'] = always, reason: string | null = null): ToyPolicy {
  return { ...permit(id, when, reason), effect: 'forbid' };
}

/** Forbids until enough people of the group other than the requester have allowed. */
function confirm(id: string, group: string, quorum = 1, over: Partial<Ask> & { reason?: string } = {}): ToyPolicy {
  const { reason = null, ...ask } = over;
  return {
    ...forbid(id, (votes) => votesOf(votes, group).count < quorum || votesOf(votes, group).includesRequester, reason),
    ask: { group, quorum, notRequester: null, decideWithinMs: null, executionWindowMs: null, ...ask },
  };
}

/** Cedar's rule: a forbid that applies wins, else a permit that applies, else a denial without reasons. */
function engine(policies: readonly ToyPolicy[]) {
  return (votes: ApprovalFacts): EngineAnswer => {
    const applying = policies.filter(({ when }) => when(votes));
    const forbids = applying.filter(({ effect }) => effect === 'forbid');
    const determining = (forbids.length > 0 ? forbids : applying).map(({ id }) => id);
    return { kind: forbids.length === 0 && applying.length > 0 ? 'allow' : 'deny', determining };
  };
}

function request(over: Partial<PolicyRequest> = {}): PolicyRequest {
  return {
    tenant: 't',
    sub: 'alice',
    roles: [],
    capability: 'c',
    capabilityVersion: '1',
    risk: 'low',
    effect: 'opaque',
    input: {},
    approvals: {},
    attempt: 1,
    reasoningPresent: false,
    allowDuplicateIntent: false,
    nowMs: 0,
    ...over,
  };
}

function judge(policies: readonly ToyPolicy[], over: Partial<PolicyRequest> = {}): Verdict {
  return decide(request(over), engine(policies), new Map(policies.map((policy) => [policy.id, policy])), DEFAULTS);
}

function judgeAnswers(
  answers: readonly unknown[],
  policies: readonly ToyPolicy[] = [permit('p'), forbid('f')],
): Verdict {
  const left = [...answers];
  const evaluate = () => left.shift() as EngineAnswer;
  return decide(request(), evaluate, new Map(policies.map((policy) => [policy.id, policy])), DEFAULTS);
}

describe('decide', () => {
  it('allows what a permit allows and names the permits with their reasons', () => {
    expect(judge([permit('b', always, 'because'), permit('a')])).toEqual({
      outcome: 'allow',
      reasons: ['because'],
      denyCode: null,
      determining: ['a', 'b'],
      obligations: null,
      engineErrors: [],
    });
  });

  it('denies what nobody permits', () => {
    expect(judge([])).toMatchObject({
      outcome: 'deny',
      denyCode: 'no_permit',
      reasons: ['no_permit'],
      determining: [],
    });
  });

  it('a final forbid wins over permits and over questions, and gives its own reason', () => {
    const policies = [permit('p'), confirm('c', 'finance', 1, { reason: 'ask' }), forbid('f', always, 'never')];
    expect(judge(policies)).toMatchObject({
      outcome: 'deny',
      denyCode: 'forbidden',
      reasons: ['never'],
      determining: ['c', 'f'],
      obligations: null,
    });
  });

  it('asks the people that the forbids in the way name', () => {
    const policies = [permit('p'), confirm('b', 'finance', 2, { reason: 'two' }), confirm('a', 'ops', 1)];
    expect(judge(policies)).toEqual({
      outcome: 'requires_confirmation',
      reasons: ['two'],
      denyCode: null,
      determining: ['a', 'b'],
      obligations: {
        rules: [
          { group: 'finance', count: 2, notRequester: false },
          { group: 'ops', count: 1, notRequester: false },
        ],
        decideWithinMs: 1000,
        executionWindowMs: 2000,
      },
      engineErrors: [],
    });
  });

  it('bars the requester about high risk unless the policy says otherwise', () => {
    expect(judge([permit('p'), confirm('c', 'finance')], { risk: 'high' }).obligations?.rules[0]?.notRequester).toBe(
      true,
    );
    const lenient = confirm('c', 'finance', 1, { notRequester: false });
    expect(judge([permit('p'), lenient], { risk: 'high' }).obligations?.rules[0]?.notRequester).toBe(false);
  });

  it('nobody is asked about what no permit would allow afterwards', () => {
    expect(judge([confirm('c', 'finance')])).toMatchObject({ outcome: 'deny', denyCode: 'no_permit' });
  });

  it('nobody is asked when a final forbid appears once the votes are there', () => {
    const later = forbid('f', (votes) => votesOf(votes, 'finance').count > 0);
    expect(judge([permit('p'), confirm('c', 'finance'), later])).toMatchObject({
      outcome: 'deny',
      denyCode: 'forbidden',
      determining: ['f'],
    });
  });

  it('a question that appears once another is answered joins it', () => {
    const second = {
      ...confirm('second', 'ops'),
      when: (votes: ApprovalFacts) => votesOf(votes, 'finance').count === 1 && votesOf(votes, 'ops').count < 1,
    };
    const verdict = judge([permit('p'), confirm('first', 'finance'), second]);
    expect(verdict.outcome).toBe('requires_confirmation');
    expect(verdict.determining).toEqual(['first', 'second']);
    expect(verdict.obligations?.rules.map(({ group }) => group)).toEqual(['finance', 'ops']);
  });

  it('a forbid that its own approvals do not lift is a denial, found after one more evaluation', () => {
    let evaluations = 0;
    const stubborn = { ...confirm('c', 'finance'), when: () => ((evaluations += 1), true) };
    expect(judge([permit('p'), stubborn])).toMatchObject({
      outcome: 'deny',
      denyCode: 'forbidden',
      determining: ['c'],
    });
    expect(evaluations).toBe(2);
  });

  it('real votes that are enough make it an allow, with one evaluation', () => {
    let evaluations = 0;
    const counting = permit('p', () => ((evaluations += 1), true));
    const verdict = judge([counting, confirm('c', 'finance', 2)], {
      approvals: { finance: { count: 2, includesRequester: false } },
    });
    expect(verdict.outcome).toBe('allow');
    expect(evaluations).toBe(1);
  });

  it('the vote of the requester among enough votes still asks', () => {
    const approvals = { finance: { count: 2, includesRequester: true } };
    expect(judge([permit('p'), confirm('c', 'finance', 2)], { approvals }).outcome).toBe('requires_confirmation');
  });

  it('policies that keep asking for more are a denial after eight rounds', () => {
    const chain = Array.from({ length: 12 }, (_, index) => ({
      ...confirm(`c${index}`, `g${index}`),
      when: (votes: ApprovalFacts) =>
        votesOf(votes, `g${index}`).count < 1 && (index === 0 || votesOf(votes, `g${index - 1}`).count > 0),
    }));
    let evaluations = 0;
    const counting = permit('p', () => ((evaluations += 1), true));
    expect(judge([counting, ...chain])).toMatchObject({ outcome: 'deny', denyCode: 'forbidden' });
    expect(evaluations).toBe(1 + ROUNDS_MAX);
    expect(judge([permit('p'), ...chain.slice(0, ROUNDS_MAX)]).outcome).toBe('requires_confirmation');
  });
});

describe('decide, when the engine fails', () => {
  const denial = (errors: readonly string[]): Verdict => ({
    outcome: 'deny',
    reasons: ['engine_error'],
    denyCode: 'engine_error',
    determining: [],
    obligations: null,
    engineErrors: errors,
  });

  it('an error is a denial even where a permit would have allowed', () => {
    expect(judgeAnswers([{ kind: 'failed', errors: ['policy_error:f'] }])).toEqual(denial(['policy_error:f']));
  });

  it('an error in a later round is a denial too', () => {
    const policies = [permit('p'), confirm('c', 'finance')];
    const answers = [
      { kind: 'deny', determining: ['c'] },
      { kind: 'failed', errors: ['x'] },
    ];
    expect(judgeAnswers(answers, policies)).toEqual(denial(['x']));
  });

  it('a throw is a denial in any round', () => {
    const policies = new Map([['c', confirm('c', 'finance')]]);
    for (const throwAt of [0, 1]) {
      let round = 0;
      const evaluate = (): EngineAnswer => {
        if (round === throwAt) throw new Error('secret argument');
        round += 1;
        return { kind: 'deny', determining: ['c'] };
      };
      expect(decide(request(), evaluate, policies, DEFAULTS)).toEqual(denial(['engine_threw']));
    }
  });

  it.each([
    ['an allow without a permit', { kind: 'allow', determining: [] }],
    ['an allow because of a forbid', { kind: 'allow', determining: ['f'] }],
    ['a denial because of a permit', { kind: 'deny', determining: ['p'] }],
    ['another word', { kind: 'maybe', determining: ['p'] }],
  ])('%s is not believed', (_, answer) => {
    expect(judgeAnswers([answer])).toEqual(denial(['impossible_answer']));
  });

  it.each([
    ['nothing', undefined],
    ['an answer without policies', { kind: 'allow' }],
  ])('%s is a denial', (_, answer) => {
    expect(judgeAnswers([answer])).toEqual(denial(['impossible_answer']));
  });

  it('a policy that nobody knows is not believed', () => {
    expect(judgeAnswers([{ kind: 'allow', determining: ['ghost'] }])).toEqual(denial(['unknown_determining_policy']));
  });
});

describe('decide, for any policies', () => {
  const groups = ['a', 'b', 'c'];
  const group = fc.constantFrom(...groups);
  const quorum = fc.integer({ min: 1, max: 3 });
  const facts = fc.dictionary(
    group,
    fc.record({ count: fc.integer({ min: 0, max: 4 }), includesRequester: fc.boolean() }),
  );

  /** Conditions on votes in both directions, so that forbids may also appear when votes are added. */
  const condition = fc.oneof(
    fc.constant(always),
    fc.tuple(group, quorum).map(
      ([name, count]) =>
        (votes: ApprovalFacts) =>
          votesOf(votes, name).count >= count,
    ),
    fc.tuple(group, quorum).map(
      ([name, count]) =>
        (votes: ApprovalFacts) =>
          votesOf(votes, name).count < count,
    ),
    group.map((name) => (votes: ApprovalFacts) => votesOf(votes, name).includesRequester),
  );
  const kinds = fc.oneof(
    condition.map((when) => permit('', when)),
    condition.map((when) => forbid('', when)),
    fc.tuple(group, quorum).map(([name, count]) => confirm('', name, count)),
    fc.tuple(group, quorum, condition).map(([name, count, when]) => ({ ...confirm('', name, count), when })),
  );
  const policies = fc
    .array(kinds, { maxLength: 7 })
    .map((drawn) => drawn.map((policy, index): ToyPolicy => ({ ...policy, id: `p${index}` })));

  const asksOf = (drawn: readonly ToyPolicy[], ids: readonly string[]): Ask[] =>
    drawn.flatMap(({ id, ask }) => (ask !== null && ids.includes(id) ? [ask] : []));

  it('people are asked only when exactly what is asked of them leads to an allow', () => {
    fc.assert(
      fc.property(policies, facts, (drawn, approvals) => {
        const verdict = judge(drawn, { approvals });
        if (verdict.outcome !== 'requires_confirmation') return;
        const given = factsOnceGiven(approvals, asksOf(drawn, verdict.determining));
        expect(judge(drawn, { approvals: given }).outcome).toBe('allow');
        const rules = verdict.obligations?.rules ?? [];
        expect(rules.length).toBeGreaterThan(0);
        for (const rule of rules) expect(given[rule.group]).toEqual({ count: rule.count, includesRequester: false });
      }),
      { numRuns: 1000 },
    );
  });

  it('people are never asked while a final forbid stands, before or after their votes', () => {
    fc.assert(
      fc.property(policies, facts, (drawn, approvals) => {
        const verdict = judge(drawn, { approvals });
        if (verdict.outcome !== 'requires_confirmation') return;
        const given = factsOnceGiven(approvals, asksOf(drawn, verdict.determining));
        for (const votes of [approvals, given]) {
          expect(drawn.filter(({ effect, ask, when }) => effect === 'forbid' && ask === null && when(votes))).toEqual(
            [],
          );
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('an allow is exactly what the engine allows with the real votes', () => {
    fc.assert(
      fc.property(policies, facts, (drawn, approvals) => {
        expect(judge(drawn, { approvals }).outcome === 'allow').toBe(engine(drawn)(approvals).kind === 'allow');
      }),
      { numRuns: 1000 },
    );
  });

  it('where policies only ever ask for votes, further votes of others never turn an allow into anything else', () => {
    const asking = fc
      .array(fc.tuple(group, quorum), { maxLength: 6 })
      .map((drawn) => [permit('p'), ...drawn.map(([name, count], index) => confirm(`c${index}`, name, count))]);
    fc.assert(
      fc.property(asking, facts, group, (drawn, approvals, more) => {
        fc.pre(judge(drawn, { approvals }).outcome === 'allow');
        const votes = votesOf(approvals, more);
        const added = { ...approvals, [more]: { ...votes, count: votes.count + 1 } };
        expect(judge(drawn, { approvals: added }).outcome).toBe('allow');
      }),
      { numRuns: 500 },
    );
  });

  it('never evaluates more than once for real and eight times for what may be', () => {
    fc.assert(
      fc.property(policies, facts, (drawn, approvals) => {
        let evaluations = 0;
        const evaluate = engine(drawn);
        decide(
          request({ approvals }),
          (votes) => ((evaluations += 1), evaluate(votes)),
          new Map(drawn.map((policy) => [policy.id, policy])),
          DEFAULTS,
        );
        expect(evaluations).toBeLessThanOrEqual(1 + ROUNDS_MAX);
      }),
    );
  });

  it('an engine that answers at random never allows without a permit and never throws', () => {
    const ids = ['permit', 'hard', 'ask', 'ghost'];
    const known = new Map([permit('permit'), forbid('hard'), confirm('ask', 'a')].map((policy) => [policy.id, policy]));
    const answer = fc.oneof(
      fc.record({ kind: fc.constantFrom('allow', 'deny', 'maybe'), determining: fc.subarray(ids) }),
      fc.record({ kind: fc.constant('failed'), errors: fc.array(fc.string()) }),
      fc.constantFrom(null, undefined, {}),
    );
    fc.assert(
      fc.property(fc.array(answer, { maxLength: 10 }), (answers) => {
        const left = [...answers];
        const verdict = decide(request(), () => left.shift() as EngineAnswer, known, DEFAULTS);
        if (verdict.outcome !== 'allow') return;
        expect(answers[0]).toEqual({ kind: 'allow', determining: ['permit'] });
      }),
      { numRuns: 1000 },
    );
  });
});

describe('the budgets of permits', () => {
  const limit = (counter: string, max: number): Limit => ({ counter, by: ['sub'], add: ['amount'], max });
  const limited = (id: string, ...limits: readonly Limit[]): ToyPolicy => ({ ...permit(id), limits });
  const AMOUNT = { input: { amount: 7 } };

  it('are taken from by what is allowed, the strictest of the determining permits for each counter', () => {
    const verdict = judge([limited('a', limit('spend.day', 90)), limited('b', limit('spend.day', 20))], AMOUNT);
    expect(verdict.outcome).toBe('allow');
    expect(verdict.reservations).toEqual([{ key: expect.stringContaining('/spend.day/'), add: 7, max: 20 }]);
  });

  it('are taken from when people are asked, as their yes would take from them', () => {
    const verdict = judge([limited('a', limit('spend.day', 90)), confirm('f', 'finance')], AMOUNT);
    expect(verdict).toMatchObject({ outcome: 'requires_confirmation', reservations: [{ add: 7, max: 90 }] });
  });

  it('of permits that do not apply are left alone, and so are all when the call is denied', () => {
    const idle = { ...limited('a', limit('spend.day', 90)), when: () => false };
    expect(judge([idle, permit('b')], AMOUNT).reservations).toBeUndefined();
    expect(judge([limited('a', limit('spend.day', 90)), forbid('f')], AMOUNT).reservations).toBeUndefined();
  });

  it('deny what cannot be counted', () => {
    const verdict = judge([limited('a', limit('spend.day', 90))], { input: { amount: -1 } });
    expect(verdict).toMatchObject({ outcome: 'deny', denyCode: 'budget_exceeded', obligations: null });
    expect(verdict.reservations).toBeUndefined();
    expect(verdict.exceeded).toBeUndefined();
  });

  it('that are full turn an allowance or a question into a denial that takes nothing and asks nobody', () => {
    const asked = judge([limited('a', limit('spend.day', 90)), confirm('f', 'finance')], AMOUNT);
    const key = asked.reservations?.[0]?.key ?? '';
    const denied = overBudget(asked, key);
    expect(denied).toMatchObject({ outcome: 'deny', denyCode: 'budget_exceeded', obligations: null, exceeded: key });
    expect(denied.reasons[0]).toBe('budget_exceeded');
    expect('reservations' in denied).toBe(false);
  });
});
