import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Risk } from '../../domain/tool-call/tool-call.state.js';
import type { Ask } from './annotations.js';
import { factsOnceGiven, joinAsks } from './obligations.js';

const DEFAULTS = { decideWithinMs: 1000, executionWindowMs: 2000 };

function ask(over: Partial<Ask> = {}): Ask {
  return { group: 'finance', quorum: 1, notRequester: null, decideWithinMs: null, executionWindowMs: null, ...over };
}

describe('joined obligations', () => {
  it('of each group the largest quorum is asked, in the order of the names', () => {
    const asks = [ask({ quorum: 2 }), ask({ group: 'a-team', quorum: 3 }), ask({ quorum: 1 })];
    expect(joinAsks(asks, 'low', DEFAULTS).rules).toEqual([
      { group: 'a-team', count: 3, notRequester: false },
      { group: 'finance', count: 2, notRequester: false },
    ]);
  });

  it('the requester is barred from a group as soon as one policy says so, and from that group only', () => {
    const asks = [
      ask({ notRequester: true }),
      ask({ notRequester: false }),
      ask({ group: 'ops', notRequester: false }),
    ];
    const rules = joinAsks(asks, 'critical', DEFAULTS).rules;
    expect(rules.map(({ group, notRequester }) => [group, notRequester])).toEqual([
      ['finance', true],
      ['ops', false],
    ]);
  });

  it.each<[Risk, boolean]>([
    ['low', false],
    ['medium', false],
    ['high', true],
    ['critical', true],
  ])('where no policy says, risk %s bars the requester: %s', (risk, barred) => {
    expect(joinAsks([ask()], risk, DEFAULTS).rules[0]?.notRequester).toBe(barred);
  });

  it('a policy may let the requester decide about high risk by saying so', () => {
    expect(joinAsks([ask({ notRequester: false })], 'high', DEFAULTS).rules[0]?.notRequester).toBe(false);
  });

  it('the shortest of the times counts, the setting being the time of a policy that says none', () => {
    const asks = [ask({ decideWithinMs: 5000 }), ask({ executionWindowMs: 500 })];
    expect(joinAsks(asks, 'low', DEFAULTS)).toMatchObject({ decideWithinMs: 1000, executionWindowMs: 500 });
    expect(joinAsks([ask({ decideWithinMs: 5000 })], 'low', DEFAULTS).decideWithinMs).toBe(5000);
  });

  it('joining in another order gives the same', () => {
    const asks = fc.array(
      fc.record({
        group: fc.constantFrom('a', 'b', 'c'),
        quorum: fc.integer({ min: 1, max: 10 }),
        notRequester: fc.constantFrom(true, false, null),
        decideWithinMs: fc.option(fc.integer({ min: 1, max: 9 })),
        executionWindowMs: fc.option(fc.integer({ min: 1, max: 9 })),
      }),
      { minLength: 1, maxLength: 6 },
    );
    fc.assert(
      fc.property(asks, (given) => {
        expect(joinAsks(given.toReversed(), 'high', DEFAULTS)).toEqual(joinAsks(given, 'high', DEFAULTS));
      }),
    );
  });
});

describe('hypothetical facts', () => {
  it('hold exactly what is asked for, and the real votes of everybody else', () => {
    const real = { finance: { count: 1, includesRequester: true }, ops: { count: 4, includesRequester: true } };
    expect(factsOnceGiven(real, [ask({ quorum: 2 }), ask({ quorum: 3 })])).toEqual({
      finance: { count: 3, includesRequester: false },
      ops: { count: 4, includesRequester: true },
    });
  });

  it('are the real facts when nobody asks', () => {
    const real = { finance: { count: 1, includesRequester: true } };
    expect(factsOnceGiven(real, [])).toEqual(real);
  });
});
