import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { RUN_STATUSES } from '../../domain/run/run.state.js';
import type { RunState } from '../../domain/run/run.state.js';
import { principalFromKey } from './principal-column.js';
import { runFacts, runRow, runState } from './run.row.js';
import type { RunFacts } from './run.row.js';

const text = fc.string();
const states: fc.Arbitrary<RunState> = fc.record({
  status: fc.constantFrom(...RUN_STATUSES),
  implicit: fc.boolean(),
  label: fc.option(text, { nil: null }),
  principal: fc.oneof(fc.record({ sub: text }), fc.record({ sub: text, act: text })),
  modelLeg: fc.constantFrom('idle' as const, 'active' as const, 'cancelled' as const),
  endReason: fc.option(text, { nil: null }),
});
const facts: fc.Arbitrary<RunFacts> = fc.record({
  run_id: text,
  tenant: text,
  session_id: text,
  version: fc.nat(),
  created_at: text,
  updated_at: text,
});

describe('the row of a run', () => {
  it('gives state and facts back', () => {
    fc.assert(
      fc.property(facts, states, (given, state) => {
        const row = runRow(given, state);
        expect(runState(row)).toEqual(state);
        expect(runFacts(row)).toEqual(given);
      }),
    );
  });
});

describe('the principal column', () => {
  it.each(['', 'alice', '"alice"', '[]', '["a","b","c"]', '[1]', '{"sub":"a"}', 'null'])(
    'does not take %j for a principal',
    (key) => {
      expect(() => principalFromKey(key)).toThrow();
    },
  );
});
