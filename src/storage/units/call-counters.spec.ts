import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { callIn } from '../../../test/builders/tool-call-examples.js';
import { heldReservations } from '../../domain/tool-call/reservation.js';
import type { Reservation, ToolCallState } from '../../domain/tool-call/tool-call.state.js';
import { counterChanges } from './call-counters.js';

const DAY = { key: 'limit/day', add: 7, max: 10 };
const HOUR = { key: 'limit/hour', add: 1, max: 5 };

const call = (
  status: Parameters<typeof callIn>[0],
  reserved: readonly Reservation[] | null,
  more: object = {},
): ToolCallState => Object.assign({}, callIn(status), { reserved, contradicted: false }, more) as ToolCallState;

const TAKEN = [DAY, HOUR];

describe('what a unit does to the budgets of its call', () => {
  it('is nothing where nothing limits it', () => {
    expect(counterChanges('acme', null, call('proposed', null))).toEqual([]);
    expect(counterChanges('acme', call('dispatching', null), call('completed', null))).toEqual([]);
  });

  it('takes with the proposal, held against the maximum', () => {
    expect(counterChanges('acme', null, call('proposed', TAKEN))).toEqual([
      { tenant: 'acme', key: 'limit/day', add: 7, max: 10 },
      { tenant: 'acme', key: 'limit/hour', add: 1, max: 5 },
    ]);
  });

  it('takes nothing more on the way', () => {
    expect(counterChanges('acme', call('proposed', TAKEN), call('authorized', TAKEN))).toEqual([]);
    expect(counterChanges('acme', call('dispatching', TAKEN), call('result_unknown', TAKEN))).toEqual([]);
    expect(counterChanges('acme', call('reconciling', TAKEN), call('completed', TAKEN))).toEqual([]);
  });

  it('gives back with the end, which no maximum refuses', () => {
    expect(counterChanges('acme', call('authorized', TAKEN), call('not_executed', TAKEN))).toEqual([
      { tenant: 'acme', key: 'limit/day', add: -7, max: null },
      { tenant: 'acme', key: 'limit/hour', add: -1, max: null },
    ]);
  });

  it('changes by the difference where a call is judged anew, also where that is nothing', () => {
    const anew = [{ ...DAY, add: 9 }, { ...HOUR }];
    expect(counterChanges('acme', call('proposed', TAKEN), call('proposed', anew))).toEqual([
      { tenant: 'acme', key: 'limit/day', add: 2, max: 10 },
      { tenant: 'acme', key: 'limit/hour', add: 0, max: 5 },
    ]);
    expect(counterChanges('acme', call('proposed', TAKEN), call('proposed', [HOUR]))).toContainEqual({
      tenant: 'acme',
      key: 'limit/day',
      add: -7,
      max: null,
    });
  });

  it('takes again what happened after all, whatever the maximum says', () => {
    const failed = { status: 'failed', knownEffect: 'none' };
    const taken = [DAY];
    expect(
      counterChanges(
        'acme',
        call('completed', taken, failed),
        call('completed', taken, { ...failed, contradicted: true }),
      ),
    ).toEqual([{ tenant: 'acme', key: 'limit/day', add: 7, max: null }]);
  });

  it('over any life adds up to what the call counts for in the end, and never below nothing', () => {
    const amounts = fc.option(
      fc.uniqueArray(fc.record({ key: fc.constantFrom('a', 'b', 'c'), add: fc.nat(9), max: fc.constant(99) }), {
        selector: ({ key }) => key,
        minLength: 1,
      }),
    );
    const statuses = fc.constantFrom('proposed', 'authorized', 'completed', 'denied', 'not_executed' as const);
    const step = fc.record({ status: statuses, contradicted: fc.boolean(), amounts, isNew: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => {
        const counters = new Map<string, number>();
        let before: ToolCallState | null = null;
        for (const { status, contradicted, amounts: drawn, isNew } of steps) {
          const reserved: readonly Reservation[] | null = before === null || isNew ? drawn : before.reserved;
          const after: ToolCallState = call(status as 'proposed', reserved, { contradicted });
          for (const { key, add } of counterChanges('acme', before, after)) {
            counters.set(key, (counters.get(key) ?? 0) + add);
          }
          expect([...counters.values()].every((value) => value >= 0)).toBe(true);
          before = after;
        }
        const held = before === null ? [] : heldReservations(before);
        for (const [key, value] of counters) expect(value).toBe(held.find((each) => each.key === key)?.add ?? 0);
        for (const { key, add } of held) expect(counters.get(key) ?? 0).toBe(add);
      }),
    );
  });
});
