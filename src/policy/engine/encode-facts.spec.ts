import { describe, expect, it } from '@jest/globals';
import { FACT_NAMES, NO_FACTS, type FactNeeds } from '../core/facts.js';
import type { PolicyRequest } from '../core/policy-types.js';
import { encodeFacts } from './encode-facts.js';
import { RequestUnreadable } from './encode-values.js';

const ALL: FactNeeds = {
  facts: FACT_NAMES,
  counters: [
    { counter: 'spend.day', by: ['principal'] },
    { counter: 'calls.hour', by: ['agent'] },
  ],
  run: false,
};

const request = (more: Partial<PolicyRequest> = {}): PolicyRequest =>
  ({ nowMs: Date.parse('2031-03-05T21:07:00Z'), ...more }) as PolicyRequest;

describe('the facts of a request, in the words of the engine', () => {
  it('are those that were gathered', () => {
    const gathered = {
      counters: { 'spend.day': 7, 'calls.hour': 1, 'other.day': 9 },
      environment: 'staging',
      time: { hour: 1, minute: 2, weekday: 3, dayOfMonth: 4, month: 5 },
      riskScore: 650,
      previousDenials: { byPeople: 1, byPolicy: 2 },
      agentSuspended: true,
      compensation: true,
    };
    expect(encodeFacts(request(gathered), ALL)).toEqual({
      ...gathered,
      counters: { 'spend.day': 7, 'calls.hour': 1 },
    });
  });

  it('are neutral where a request was recorded before anything read them', () => {
    expect(encodeFacts(request(), ALL)).toEqual({
      counters: { 'spend.day': 0, 'calls.hour': 0 },
      environment: 'production',
      time: { hour: 21, minute: 7, weekday: 3, dayOfMonth: 5, month: 3 },
      riskScore: 0,
      previousDenials: { byPeople: 0, byPolicy: 0 },
      agentSuspended: false,
      compensation: false,
    });
  });

  it('are none where nothing reads any, whatever the request holds', () => {
    expect(encodeFacts(request({ riskScore: 1, environment: 'staging' }), NO_FACTS)).toEqual({});
  });

  it.each([
    ['a counter that is no whole number', { counters: { 'spend.day': 0.5 } }],
    ['a score that is a text', { riskScore: '1' as never }],
    ['an hour that is none', { time: { hour: Number.NaN, minute: 0, weekday: 1, dayOfMonth: 1, month: 1 } }],
    ['half a surrogate pair', { environment: '\ud800' }],
    ['a truth that is a number', { agentSuspended: 1 as never }],
  ])('never hold %s', (_, more) => {
    expect(() => encodeFacts(request(more), ALL)).toThrow(RequestUnreadable);
  });
});
