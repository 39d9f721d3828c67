import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { EFFECTS, RISKS } from '../../domain/tool-call/tool-call.state.js';
import { RISK_SCORE_MAX, riskScore } from './risk-score.js';

const CALM = { denials: { byPeople: 0, byPolicy: 0 }, firstUse: false };
const call = (risk: (typeof RISKS)[number], effect: string, allowDuplicateIntent = false) => ({
  risk,
  effect,
  allowDuplicateIntent,
});

const circumstances = fc.record({
  request: fc.record({
    risk: fc.constantFrom(...RISKS),
    effect: fc.constantFrom(...EFFECTS),
    allowDuplicateIntent: fc.boolean(),
  }),
  inputs: fc.record({ denials: fc.record({ byPeople: fc.nat(9), byPolicy: fc.nat(9) }), firstUse: fc.boolean() }),
});

describe('the risk score', () => {
  it.each([
    ['reading at low risk', call('low', 'read_only'), CALM, 100],
    ['a refund that can be looked up', call('high', 'probeable'), CALM, 550],
    ['the same for the first time', call('high', 'probeable'), { ...CALM, firstUse: true }, 650],
    ['beside an equal one', call('high', 'probeable', true), CALM, 600],
    ['after a refusal by people', call('high', 'probeable'), { ...CALM, denials: { byPeople: 1, byPolicy: 0 } }, 650],
    ['after two by policy', call('high', 'probeable'), { ...CALM, denials: { byPeople: 0, byPolicy: 2 } }, 600],
    ['what nobody can look up', call('critical', 'opaque'), CALM, 850],
    ['an effect nobody knows is the worst', call('low', 'something'), CALM, 250],
    [
      'everything at once',
      call('critical', 'opaque', true),
      { denials: { byPeople: 9, byPolicy: 9 }, firstUse: true },
      1000,
    ],
  ])('of %s', (_, request, inputs, score) => {
    expect(riskScore(request, inputs)).toBe(score);
  });

  it('is a whole number from 0 to the maximum, and no denial makes it smaller', () => {
    fc.assert(
      fc.property(circumstances, fc.nat(3), fc.nat(3), ({ request, inputs }, people, policy) => {
        const score = riskScore(request, inputs);
        const { byPeople, byPolicy } = inputs.denials;
        const denials = { byPeople: byPeople + people, byPolicy: byPolicy + policy };
        expect(Number.isInteger(score) && score >= 0 && score <= RISK_SCORE_MAX).toBe(true);
        expect(riskScore(request, { ...inputs, denials })).toBeGreaterThanOrEqual(score);
        expect(riskScore(request, inputs)).toBe(score);
      }),
    );
  });
});
