import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { mayReplay, nextAtMs, planFor, type Means, type Pace } from './reconciliation-plan.js';

const NOW = Date.parse('2031-01-01T10:01:00.000Z');
const DEADLINE = '2031-01-01T10:00:30.000Z';
const OVER = Date.parse(DEADLINE) + 5_000;
const KEY = { strategy: 'query_by_idempotency_key', attemptsMax: 12, budgetMs: 600_000 } as const;
const REFERENCE = { strategy: 'query_by_external_id', attemptsMax: 3, budgetMs: 600_000 } as const;

const means = (more: Partial<Means> = {}): Means => ({
  onAmbiguous: 'reconcile',
  quiesceMs: 5_000,
  probe: null,
  replayAsProbe: false,
  callbackBudgetMs: null,
  statementBudgetMs: null,
  ...more,
});
const plan = (more: Partial<Means>, externalRequestId: string | null = null) =>
  planFor(means(more), { externalRequestId, deadline: DEADLINE, nowMs: NOW });

describe('the plan for a call whose result is unknown', () => {
  it.each([
    ['nothing is declared', {}, null],
    ['the manifest says handoff', { onAmbiguous: 'handoff', probe: KEY, callbackBudgetMs: 1_000 }, null],
    ['only a reference could be asked by, and none is known', { probe: REFERENCE }, null],
  ] as const)('is to ask people where %s', (_, declared, expected) => {
    expect(plan(declared)).toBe(expected);
  });

  it.each([
    ['query_by_idempotency_key', 'probe', false, { probe: KEY }, null],
    ['query_by_idempotency_key', 'probe', true, { probe: KEY, callbackBudgetMs: 1_000 }, null],
    ['query_by_external_id', 'probe', false, { probe: REFERENCE }, 'r-1'],
    ['await_callback', 'none', true, { probe: REFERENCE, callbackBudgetMs: 1_000 }, null],
    ['await_callback', 'none', true, { callbackBudgetMs: 1_000, statementBudgetMs: 1_000 }, null],
    ['statement_match', 'none', true, { statementBudgetMs: 1_000 }, null],
    ['query_by_idempotency_key', 'replay', false, { replayAsProbe: true }, null],
  ] as const)('is %s (%s; waits: %s)', (strategy, asks, waits, declared, reference) => {
    expect(plan(declared, reference)).toMatchObject({ strategy, asks, waits });
  });

  it('gives look-ups their budget from now, and what comes by itself from when the attempt was over', () => {
    expect(plan({ probe: KEY })?.deadlineMs).toBe(NOW + 600_000);
    expect(plan({ callbackBudgetMs: 3_600_000 })?.deadlineMs).toBe(OVER + 3_600_000);
    expect(plan({ callbackBudgetMs: 1_000, statementBudgetMs: 9_000 })?.deadlineMs).toBe(OVER + 9_000);
    expect(plan({ probe: KEY, statementBudgetMs: 3_600_000 })?.deadlineMs).toBe(OVER + 3_600_000);
  });
});

describe('the time of the next look-up', () => {
  const pace = (more: Partial<Pace>): number =>
    nextAtMs({
      nowMs: 1_000,
      backoffMs: 500,
      made: 1,
      attemptsMax: 3,
      deadlineMs: 60_000,
      quietAtMs: null,
      waits: false,
      ...more,
    });

  it('backs off, and never beyond the deadline', () => {
    expect(pace({})).toBe(1_500);
    expect(pace({ backoffMs: 90_000 })).toBe(60_000);
  });

  it('keeps the last one for when absence is proof', () => {
    expect(pace({ made: 1, quietAtMs: 30_000 })).toBe(1_500);
    expect(pace({ made: 2, quietAtMs: 30_000 })).toBe(30_000);
    expect(pace({ made: 2, quietAtMs: 500 })).toBe(1_500);
  });

  it('is the deadline when none is left and evidence may still come, and now when not', () => {
    expect(pace({ made: 3, waits: true })).toBe(60_000);
    expect(pace({ made: 3 })).toBe(1_000);
  });

  it('is never in the past and never after the deadline', () => {
    const times = fc.record({
      backoffMs: fc.nat(100_000),
      made: fc.integer({ min: 1, max: 5 }),
      deadlineMs: fc.integer({ min: 1_000, max: 100_000 }),
      quietAtMs: fc.option(fc.nat(200_000)),
      waits: fc.boolean(),
    });
    fc.assert(
      fc.property(times, (more) => {
        const next = pace(more);
        return next >= 1_000 && next <= more.deadlineMs;
      }),
    );
  });
});

describe('asking by the identical request', () => {
  const facts = {
    nowMs: NOW,
    firstUsedAt: '2031-01-01T10:00:00.000Z',
    keyRetentionMs: 600_000,
    sendBefore: [null],
  };

  it('is possible inside four fifths of the time for which the tool knows the key', () => {
    expect(mayReplay(facts)).toBe(true);
    const end = Date.parse(facts.firstUsedAt) + 480_000;
    expect(mayReplay({ ...facts, nowMs: end - 1 })).toBe(true);
    expect(mayReplay({ ...facts, nowMs: end })).toBe(false);
  });

  it.each([
    ['the tool does not say how long it knows a key', { keyRetentionMs: null }],
    ['the time in which it could be sent is over', { sendBefore: ['2031-01-01T10:01:00.000Z'] }],
    ['one of two such times is over', { sendBefore: ['2031-01-01T11:00:00.000Z', '2031-01-01T10:00:59.000Z'] }],
  ])('is not where %s', (_, more) => {
    expect(mayReplay({ ...facts, ...more })).toBe(false);
  });
});
