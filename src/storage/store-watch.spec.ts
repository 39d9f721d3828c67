import { tmpdir } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../test/builders/manual-clock.js';
import { MemoryStore } from '../../test/builders/memory-store.js';
import { settingsWith } from '../../test/builders/settings-examples.js';
import { Metrics } from '../system/metrics/metrics.js';
import { Readiness } from '../system/readiness.js';
import { StoreWatch } from './store-watch.js';
import type { StoreStatus } from './store.js';

function watched(status: Partial<StoreStatus>, readiness: { readonly diskFreeBytesMin?: number } = {}) {
  const store = new MemoryStore(new ManualClock('2031-01-01T00:00:00Z'));
  store.status = () => ({ ...MemoryStore.prototype.status.call(store), ...status });
  const settings = Object.assign(settingsWith({ storage: { queueMax: 10, walBytesMax: 1000 }, readiness }), {
    dataDir: tmpdir(),
  });
  const [reasons, metrics] = [new Readiness(), new Metrics()];
  return { watch: new StoreWatch(store, settings, reasons, metrics), reasons: () => reasons.reasons(), metrics };
}

describe('the watch over the store', () => {
  it('takes a process whose store has failed out of rotation', () => {
    expect(watched({ failure: 'the writer thread has ended' }).reasons()).toEqual([
      { name: 'disk', weight: 'not_ready', detail: 'the store has failed: the writer thread has ended' },
    ]);
  });

  it.each<[string, Partial<StoreStatus>, string]>([
    ['a long log', { walBytes: 1001 }, 'disk'],
    ['a queue that is nearly full', { lanes: { settle: 0, govern: 0, admit: 8 } }, 'queue'],
  ])('reports %s and keeps the process in rotation', (_, status, name) => {
    expect(watched(status).reasons()).toMatchObject([{ name, weight: 'degraded' }]);
  });

  it('says nothing about a log at its limit and a queue with room', () => {
    expect(watched({ walBytes: 1000, lanes: { settle: 900, govern: 900, admit: 7 } }).reasons()).toEqual([]);
  });

  it('reports little free space once it has looked', async () => {
    const { watch, reasons, metrics } = watched({}, { diskFreeBytesMin: Number.MAX_SAFE_INTEGER });
    expect(reasons()).toEqual([]);
    await watch.look();
    expect(reasons()).toMatchObject([{ name: 'disk', weight: 'degraded' }]);
    expect(await metrics.text()).toMatch(/^countersign_data_dir_free_bytes [1-9]/m);
  });
});
