import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  budgetReasons,
  counterKey,
  counterOfKey,
  fullLimit,
  isCovered,
  LIMIT_WINDOWS,
  readLimits,
  reservationsFor,
  strictestLimits,
  windowEnd,
  type Limit,
} from './limits.js';
import type { PolicyRequest } from './policy-types.js';

const SPEND = 'counter=spend.day;by=principal,capability;add=input.amountMinor;max=50000';
const NOW = Date.parse('2031-03-05T12:34:56.789Z');

const request = (more: Partial<PolicyRequest> = {}): PolicyRequest => ({
  tenant: 'acme',
  sub: 'alice',
  act: 'agent-7',
  roles: [],
  capability: 'refund.create',
  capabilityVersion: '1',
  risk: 'high',
  effect: 'probeable',
  input: { amountMinor: 700 },
  approvals: {},
  attempt: 1,
  reasoningPresent: false,
  allowDuplicateIntent: false,
  nowMs: NOW,
  ...more,
});

function limit(text = SPEND): Limit {
  const read = readLimits(text);
  if (!read.ok || read.value[0] === undefined) throw new Error('a good limit');
  return read.value[0];
}

describe('the text of a limit', () => {
  it('says which counter, whose, what is added and how much it holds', () => {
    expect(readLimits(SPEND)).toEqual({
      ok: true,
      value: [{ counter: 'spend.day', by: ['principal', 'capability'], add: ['amountMinor'], max: 50_000 }],
    });
  });

  it('may hold several limits, in any order of their words', () => {
    const read = readLimits('max=3;add=1;by=capability,tenant;counter=calls.minute|' + SPEND);
    expect(read).toMatchObject({
      ok: true,
      value: [{ counter: 'calls.minute', by: ['tenant', 'capability'], add: null, max: 3 }, { counter: 'spend.day' }],
    });
  });

  it.each([
    ['nothing', ''],
    ['an unknown word', `${SPEND};per=day`],
    ['a word twice', `${SPEND};max=1`],
    ['a word missing', 'counter=spend.day;by=principal;add=1'],
    ['a window that is none', SPEND.replace('day', 'year')],
    ['a counter without a window', SPEND.replace('spend.day', 'spend')],
    ['a counter with a slash in its name', SPEND.replace('spend', 'sp/end')],
    ['nobody', SPEND.replace('principal,capability', '')],
    ['somebody unknown', SPEND.replace('capability', 'team')],
    ['somebody twice', SPEND.replace('capability', 'principal')],
    ['another number than 1', SPEND.replace('input.amountMinor', '2')],
    ['something that is no argument', SPEND.replace('input.amountMinor', 'principal.age')],
    ['a maximum below nothing', SPEND.replace('50000', '-1')],
    ['a maximum with a fraction', SPEND.replace('50000', '1.5')],
    ['one counter twice', `${SPEND}|${SPEND}`],
    ['an empty one among others', `${SPEND}|`],
    ['more than eight', Array.from({ length: 9 }, (_, n) => SPEND.replace('spend', `s${n}`)).join('|')],
  ])('is refused for %s', (_, text) => {
    expect(readLimits(text)).toMatchObject({ ok: false, message: expect.any(String) });
  });
});

describe('the window of a counter', () => {
  it.each([
    ['minute', '2031-03-05T12:35:00.000Z'],
    ['hour', '2031-03-05T13:00:00.000Z'],
    ['day', '2031-03-06T00:00:00.000Z'],
    ['week', '2031-03-10T00:00:00.000Z'],
    ['month', '2031-04-01T00:00:00.000Z'],
  ] as const)('of one %s ends at %s', (window, end) => {
    expect(windowEnd(window, NOW)).toBe(end);
  });

  it('is left in its first moment, and a December ends in January', () => {
    expect(windowEnd('day', Date.parse('2031-03-06T00:00:00.000Z'))).toBe('2031-03-07T00:00:00.000Z');
    expect(windowEnd('month', Date.parse('2031-12-31T23:59:59.999Z'))).toBe('2032-01-01T00:00:00.000Z');
    expect(windowEnd('week', Date.parse('2031-03-09T23:59:59.999Z'))).toBe('2031-03-10T00:00:00.000Z');
  });

  it('holds every moment up to its end, and none after it', () => {
    const moments = fc.integer({ min: 0, max: 4_000_000_000_000 });
    fc.assert(
      fc.property(fc.constantFrom(...LIMIT_WINDOWS), moments, (window, nowMs) => {
        const end = windowEnd(window, nowMs);
        expect(Date.parse(end)).toBeGreaterThan(nowMs);
        expect(windowEnd(window, Date.parse(end) - 1)).toBe(end);
        expect(windowEnd(window, Date.parse(end)) > end).toBe(true);
      }),
    );
  });
});

describe('the counter of a limit', () => {
  it('is named by the end of its window, its name and whose it is', () => {
    expect(counterKey(limit(), request())).toBe(
      'limit/2031-03-06T00:00:00.000Z/spend.day/{"principal":["alice","agent-7"],"capability":"refund.create"}',
    );
  });

  it.each([
    ['tenant', { tenant: 'globex' }],
    ['principal', { act: 'agent-8' }],
    ['principal', { sub: 'bob' }],
    ['sub', { sub: 'bob' }],
    ['agent', { act: 'agent-8' }],
    ['capability', { capability: 'payout.create' }],
    ['run', { runId: 'run_2' }],
  ])('by %s is another for another one: %p', (by, other) => {
    const counted = limit(`counter=calls.day;by=${by};add=1;max=5`);
    expect(counterKey(counted, request({ runId: 'run_1', ...other }))).not.toBe(
      counterKey(counted, request({ runId: 'run_1' })),
    );
  });

  it('by agent is one whoever the agent acts for, and there is one for nobody', () => {
    const counted = limit('counter=calls.day;by=agent;add=1;max=5');
    expect(counterKey(counted, request({ sub: 'bob' }))).toBe(counterKey(counted, request()));
    const { act: _, ...alone } = request();
    expect(counterKey(counted, alone)).toContain('{"agent":null}');
  });

  it('is told to people by its name and the end of its window, and found again in the failure of a unit', () => {
    const key = counterKey(limit(), request({ sub: 'a/b' }));
    expect(counterOfKey(key)).toEqual({ counter: 'spend.day', until: '2031-03-06T00:00:00.000Z' });
    expect(fullLimit(`counter:${key}`)).toBe(key);
    expect([fullLimit('pauses'), fullLimit('counter:late/unmatched')]).toEqual([null, null]);
  });
});

describe('what a call takes of its budgets', () => {
  const take = (text: string, input: PolicyRequest['input']) => reservationsFor([limit(text)], request({ input }));
  const NESTED = SPEND.replace('input.amountMinor', 'input.order.total');

  it('is the argument, 1 where calls are counted, and 0 where the argument is missing', () => {
    expect(take(SPEND, { amountMinor: 700 })).toMatchObject([{ add: 700, max: 50_000 }]);
    expect(take(SPEND.replace('input.amountMinor', '1'), {})).toMatchObject([{ add: 1 }]);
    expect(take(SPEND, {})).toMatchObject([{ add: 0 }]);
    expect(take(NESTED, { order: { total: 9 } })).toMatchObject([{ add: 9 }]);
    expect(take(NESTED, {})).toMatchObject([{ add: 0 }]);
  });

  it.each([
    ['below 0', { amountMinor: -1 }],
    ['with a fraction', { amountMinor: 0.5 }],
    ['too large to be counted', { amountMinor: 2 ** 53 }],
    ['that is no number', { amountMinor: '700' }],
  ])('cannot be an amount %s', (_, input) => {
    expect(take(SPEND, input)).toBeNull();
  });

  it('cannot be found inside of something that is no object, nor in what all objects have', () => {
    expect(take(NESTED, { order: 'x' })).toBeNull();
    expect(take(SPEND.replace('amountMinor', 'constructor'), {})).toMatchObject([{ add: 0 }]);
  });

  it('is limited by the strictest of several permits, each counter once and in order', () => {
    const limits = [limit(), limit(SPEND.replace('50000', '100')), limit('counter=a.day;by=sub;add=1;max=9')];
    expect(strictestLimits(limits).map(({ counter, max }) => [counter, max])).toEqual([
      ['a.day', 9],
      ['spend.day', 100],
    ]);
  });
});

describe('what a call holds already', () => {
  const held = reservationsFor([limit()], request()) ?? [];

  it('covers the same in a later window: a call counts in the window it was proposed in', () => {
    const later = reservationsFor([limit()], request({ nowMs: NOW + 86_400_000 })) ?? [];
    expect(later).not.toEqual(held);
    expect(isCovered(later, held)).toBe(true);
  });

  it.each([
    ['another amount', limit(), { input: { amountMinor: 701 } }],
    ['another maximum', limit(SPEND.replace('50000', '40000')), {}],
    ['another counter', limit(SPEND.replace('spend', 'paid')), {}],
    ['somebody else', limit(), { sub: 'bob' }],
  ])('covers nothing that is for %s', (_, wanted, more) => {
    expect(isCovered(reservationsFor([wanted], request(more)) ?? [], held)).toBe(false);
  });

  it('covers neither less nor more counters', () => {
    expect(isCovered([], held)).toBe(false);
    expect(isCovered(held, [])).toBe(false);
  });
});

describe('why a budget denies', () => {
  it('names the budget and when it ends, and no number of anybody', () => {
    const [code, text = ''] = budgetReasons(counterKey(limit(), request()));
    expect(code).toBe('budget_exceeded');
    expect(text).toContain('spend.day');
    expect(text).toContain('2031-03-06T00:00:00.000Z');
    expect(text).not.toMatch(/50000|alice|agent-7/);
    expect(budgetReasons(null)[0]).toBe('budget_exceeded');
  });
});
