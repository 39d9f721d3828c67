import { describe, expect, it } from '@jest/globals';
import { CountersignError } from '../../../../src/domain/errors/countersign-error.js';
import type { Lane } from '../../../../src/storage/unit.js';
import { commitAll, tally } from '../outcomes.js';
import type { StoreUnderTest } from '../store-contract.js';
import { metaInsert, unit } from '../unit-builders.js';

const fact = (name: string, lane: Lane) => unit({ lane, writes: [metaInsert(name, '')] });

export function describeLanes({ current, openWith }: StoreUnderTest): void {
  describe('lanes', () => {
    it('applies what waits in the order settle, govern, admit, and by arrival within a lane', async () => {
      const { store } = await openWith({ unitsPerFlushMax: 3 });
      const order: string[] = [];
      store.feed.subscribe('order', ({ unit: { writes } }) => {
        const [write] = writes;
        if (write?.op === 'insert' && write.table === 'meta') order.push(write.row.name);
      });
      // The first unit is being flushed while the others arrive.
      const first = store.commit(fact('first', 'admit'));
      await new Promise((resolve) => setImmediate(resolve));
      const lanes: Lane[] = ['admit', 'govern', 'settle', 'admit', 'govern', 'settle'];
      const rest = commitAll(
        store,
        lanes.map((lane, index) => fact(`${lane} ${index}`, lane)),
      );
      await Promise.all([first, rest]);
      expect(order).toEqual(['first', 'settle 2', 'settle 5', 'govern 1', 'govern 4', 'admit 0', 'admit 3']);
    });

    it('refuses proposals beyond the limit before they are queued, and never results or decisions', async () => {
      const { store } = await openWith({ queueMax: 5, unitsPerFlushMax: 2 });
      const outcomes = (lane: Lane, count: number) =>
        commitAll(
          store,
          Array.from({ length: count }, (_, index) => fact(`${lane} ${index}`, lane)),
        );
      const [admitted, governed, settled] = await Promise.all([
        outcomes('admit', 50),
        outcomes('govern', 50),
        outcomes('settle', 50),
      ]);
      expect(tally(governed)).toEqual({ committed: 50 });
      expect(tally(settled)).toEqual({ committed: 50 });
      expect(tally(admitted)).toEqual({ committed: 5, 'error too many proposals wait to be recorded': 45 });
      expect(await store.read.meta('admit 49')).toBeNull();
    });

    it('says overloaded with the seconds to wait, and takes proposals again afterwards', async () => {
      const { store } = await openWith({ queueMax: 1 });
      const [kept, refused] = [store.commit(fact('kept', 'admit')), store.commit(fact('refused', 'admit'))];
      await expect(refused).rejects.toMatchObject({ code: 'overloaded', details: { retryAfterSeconds: 1 } });
      await kept;
      await store.commit(fact('later', 'admit'));
      expect(await store.read.meta('later')).toBe('');
    });

    it('answers everything it has accepted before it closes, and refuses what comes after', async () => {
      const { store } = current();
      const accepted = commitAll(
        store,
        Array.from({ length: 200 }, (_, index) => fact(`fact ${index}`, 'admit')),
      );
      const closed = store.close();
      await expect(store.commit(fact('late', 'settle'))).rejects.toMatchObject({ code: 'shutting_down' });
      await expect(store.commit(fact('late', 'settle'))).rejects.toBeInstanceOf(CountersignError);
      expect(tally(await accepted)).toEqual({ committed: 200 });
      await closed;
    });

    it('reports that it is well, and how many units wait', async () => {
      const { store } = current();
      expect(store.status()).toMatchObject({ ok: true, queue: 0, reasons: [] });
      const all = commitAll(
        store,
        Array.from({ length: 20 }, (_, index) => fact(`fact ${index}`, 'admit')),
      );
      expect(store.status().queue).toBe(20);
      await all;
      expect(store.status().queue).toBe(0);
    });
  });
}
