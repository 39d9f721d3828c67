import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { PreconditionBench, UNCHANGED } from '../../../test/builders/precondition-bench.js';
import { preconditionWith } from '../../../test/builders/precondition-examples.js';

type Step =
  | { readonly do: 'order'; readonly status: string | null }
  | { readonly do: 'vote' | 'dispatch' | 'ask' | 'allow' | 'readable' | 'unreadable' | 'rejudge' };

const ALIVE = preconditionWith({
  name: 'alive',
  title: 'The order is open or held',
  expect: { oneOf: ['open', 'held'] },
});

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('order' as const),
      status: fc.constantFrom('open', 'held', 'refunded', null),
    }),
  },
  { weight: 3, arbitrary: fc.constant<Step>({ do: 'vote' }) },
  { weight: 3, arbitrary: fc.constant<Step>({ do: 'dispatch' }) },
  { weight: 1, arbitrary: fc.constantFrom<Step>({ do: 'ask' }, { do: 'allow' }, { do: 'rejudge' }) },
  { weight: 1, arbitrary: fc.constantFrom<Step>({ do: 'readable' }, { do: 'unreadable' }) },
);

/** What the world answered last. */
class Witness {
  last: string | null | 'unreadable' = null;
}

async function take(bench: PreconditionBench, id: string, one: Step): Promise<void> {
  const { installation } = bench;
  switch (one.do) {
    case 'order':
      bench.order(one.status === null ? undefined : { status: one.status });
      return;
    case 'vote':
      if ((await installation.call(id)).row.approval_id !== null) await bench.vote(id).catch(() => undefined);
      return;
    case 'dispatch':
      await bench.dispatch(id);
      return;
    case 'ask':
      installation.policy.ask();
      return;
    case 'allow':
      installation.policy.allow();
      return;
    case 'readable':
      bench.world.failure = null;
      return;
    case 'unreadable':
      bench.world.failure = 'timeout';
      return;
    case 'rejudge': {
      const call = await installation.call(id);
      if (call.row.approval_id === null) return;
      await installation.rejudgement.rejudge(await bench.approval(id), call, 'policy_changed').catch(() => undefined);
      return;
    }
  }
}

describe('whatever the world, people and the policy do', () => {
  it('nothing is sent unless the last reading before it held, and was what the people had been shown', async () => {
    let sent = 0;
    await fc.assert(
      fc.asyncProperty(fc.boolean(), fc.array(step, { minLength: 1, maxLength: 14 }), async (asks, steps) => {
        const bench = new PreconditionBench(UNCHANGED, ALIVE);
        const witness = new Witness();
        bench.world.onAsked = () => {
          witness.last = bench.world.failure === null ? statusOf(bench) : 'unreadable';
        };
        const id = asks ? await bench.asked() : await bench.installation.propose();
        for (const one of steps) {
          const before = bench.sent;
          await take(bench, id, one);
          if (bench.sent === before) continue;
          sent += 1;
          expect(one.do).toBe('dispatch');
          expect(['open', 'held']).toContain(witness.last);
          const { row, state } = await bench.installation.call(id);
          expect(state.status).toBe('dispatching');
          if (row.approval_id === null) continue;
          const approval = await bench.approval(id);
          const [shown] = (await shownBy(bench, approval.row.required_event_id)) ?? [];
          if (approval.state.status === 'consumed') expect(shown?.value).toBe(witness.last);
        }
        expect(bench.sent).toBeLessThanOrEqual(1);
      }),
      { numRuns: 60 },
    );
    // A property about sending that sends nothing would say nothing.
    expect(sent).toBeGreaterThan(10);
  });
});

const statusOf = ({ world }: PreconditionBench): string | null =>
  ([...world.values.values()][0] as { status?: string } | undefined)?.status ?? null;

async function shownBy(
  { installation }: PreconditionBench,
  eventId: string,
): Promise<readonly { readonly value?: unknown }[] | undefined> {
  const event = await installation.store.read.event('acme', eventId);
  return (event?.payload['shown'] as { preconditions?: readonly { value?: unknown }[] } | undefined)?.preconditions;
}
