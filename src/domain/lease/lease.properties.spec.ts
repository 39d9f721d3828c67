import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { at, grant, LEASE_ROWS, UPSTREAM } from '../../../test/builders/lease-examples.js';
import type { LeaseCommand } from './lease.commands.js';
import { decideLease } from './lease.decide.js';
import { foldLease } from './lease.evolve.js';
import { isLiveLease, type LeaseState } from './lease.state.js';

const commands: fc.Arbitrary<LeaseCommand> = fc.oneof(
  fc.constantFrom(...LEASE_ROWS.map(({ trial }) => trial.command(null))),
  fc.integer({ min: 0, max: 120 }).map((seconds): LeaseCommand => {
    const now = new Date(Date.parse(at('10:00:00')) + seconds * 1000).toISOString();
    return { kind: 'use', use: { now, usedBy: 'tool' } };
  }),
);

const issues = fc.record({ maxUses: fc.integer({ min: 1, max: 5 }), upstream: fc.constantFrom(null, UPSTREAM) });

describe('a lease, whatever is asked of it in whatever order', () => {
  it('is used no more often than granted, never after its end, and never lives again', () => {
    fc.assert(
      fc.property(issues, fc.array(commands, { maxLength: 40 }), (more, asked) => {
        let state = foldLease(null, [{ type: 'lease.issued', payload: grant(more) }]) as LeaseState;
        let [uses, ended] = [0, false];
        for (const command of asked) {
          const decided = decideLease(state, command);
          if (!decided.ok) continue;
          if (command.kind === 'use') {
            uses += 1;
            expect(ended).toBe(false);
            expect(command.use.now < state.expiresAt).toBe(true);
          }
          state = foldLease(state, decided.events) as LeaseState;
          expect(isLiveLease(state) && ended).toBe(false);
          ended ||= !isLiveLease(state);
          expect(state.uses).toBe(uses);
        }
        expect(uses).toBeLessThanOrEqual(more.maxUses);
      }),
    );
  });
});
