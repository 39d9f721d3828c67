import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { CommittedEvent } from '../../domain/events/envelope.js';
import { readPage, type EventTable } from './event-pages.js';
import type { EventScope } from './event-scope.js';

/** A table whose events belong to these tenants, in order; all are durable and told. */
function tableOf(tenants: readonly string[]): EventTable {
  const events = tenants.map(
    (tenant, position) =>
      ({
        position,
        envelope: { tenant, eventType: 'run.started', streamKind: 'run', streamId: `run_${position % 3}` },
        payload: {},
      }) as unknown as CommittedEvent,
  );
  const eventsAfter = async (position: number, limit: number, tenant: string | null) =>
    events
      .filter((event) => event.position > position && (tenant === null || event.envelope.tenant === tenant))
      .slice(0, limit);
  return { read: { eventsAfter }, feed: { head: () => events.length } };
}

const scopeOf = (more: Partial<EventScope> = {}): EventScope => ({
  tenant: 'acme',
  installation: false,
  runId: null,
  types: null,
  ...more,
});

async function walk(table: EventTable, scope: EventScope, limit: number, after = -1): Promise<readonly number[]> {
  const seen: number[] = [];
  for (let position = after; ;) {
    const page = await readPage(table, scope, position, limit);
    expect(page.items.length).toBeLessThanOrEqual(limit);
    seen.push(...page.items.map((item) => item.position));
    if (page.nextAfter === page.head) return seen;
    expect(page.nextAfter).toBeGreaterThan(position);
    position = page.nextAfter;
  }
}

describe('pages of events', () => {
  it('together hold every event in scope once, in order, whatever their size', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('acme', 'umbrella', '*'), { maxLength: 700 }),
        fc.integer({ min: 1, max: 300 }),
        fc.boolean(),
        fc.constantFrom(null, 'run_1'),
        async (tenants, limit, installation, runId) => {
          const seen = await walk(tableOf(tenants), scopeOf({ installation, runId }), limit);
          const wanted = tenants.flatMap((tenant, position) =>
            (tenant === 'acme' || (installation && tenant === '*')) && (runId === null || position % 3 === 1)
              ? [position]
              : [],
          );
          expect(seen).toEqual(wanted);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('end at the newest event, even when the last ones are not in scope', async () => {
    const page = await readPage(tableOf(['acme', 'umbrella', 'umbrella']), scopeOf(), -1, 10);
    expect(page).toMatchObject({ nextAfter: 2, head: 2 });
    expect(await readPage(tableOf([]), scopeOf(), -1, 10)).toEqual({ items: [], nextAfter: -1, head: -1 });
  });

  it('look at so many events and no more for a filter that nothing passes', async () => {
    const table = tableOf(Array.from({ length: 5_000 }, () => 'acme'));
    const page = await readPage(table, scopeOf({ runId: 'run_none' }), -1, 10);
    expect(page).toEqual({ items: [], nextAfter: 1_999, head: 4_999 });
    expect(await walk(table, scopeOf({ runId: 'run_none' }), 10)).toEqual([]);
  });
});
