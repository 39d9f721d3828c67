import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openStore } from '../../../src/storage/sqlite/open-store.js';
import type { Store } from '../../../src/storage/store.js';
import { newDataDir, sqliteOptions } from './opened-store.js';
import { CallScript, TENANT, event, newId, unit } from './unit-builders.js';

const MEGABYTE = 1024 * 1024;

describe('the threads of a SQLite store', () => {
  let parent: string;
  beforeEach(() => {
    parent = newDataDir();
  });
  afterEach(() => rmSync(parent, { recursive: true, force: true }));

  const options = (name: string, storage: { checkpointIntervalMs?: number; walBytesMax?: number } = {}) => {
    const base = sqliteOptions(join(parent, name));
    return { ...base, storage: { ...base.storage, ...storage } };
  };

  it.each(['exits', 'throws'])('make everything store_unavailable when the writer %s', async (way) => {
    mkdirSync(join(parent, way));
    const writerEntry = new URL('./children/dying-writer.mjs', import.meta.url);
    const store = await openStore({ ...options(way), writerEntry });
    const waiting = Array.from({ length: 5 }, () => store.commit(new CallScript().proposeAndDispatch()));
    for (const one of waiting) await expect(one).rejects.toMatchObject({ code: 'store_unavailable' });
    await expect(store.commit(unit({ lane: 'settle' }))).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(store.status().ok).toBe(false);
    expect(store.status().reasons[0]).toMatch(/the writer thread has (ended|failed)/);
    await store.close();
  });

  it('close while nothing was ever written', async () => {
    const store = await openStore(options('empty'));
    await store.close();
    await expect(store.close()).resolves.toBeUndefined();
  });

  /** Writes without a pause, from two sides, and answers how long the log ever was. */
  async function longestLog(store: Store, units: number): Promise<number> {
    let [longest, left] = [0, units];
    const side = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        await store.commit(new CallScript().proposeAndDispatch());
        longest = Math.max(longest, store.status().walBytes);
      }
    };
    await Promise.all([side(), side()]);
    return longest;
  }

  it('keep the log short while units are written without a pause, whatever the interval', async () => {
    const units = 2_000;
    const checkpointEntry = new URL('./children/idle-checkpointer.mjs', import.meta.url);
    const never = await openStore({ ...options('never'), checkpointEntry });
    const whole = await longestLog(never, units);
    await never.close();
    expect(whole).toBeGreaterThan(64 * MEGABYTE);
    for (const checkpointIntervalMs of [20, 600_000]) {
      const problems: string[] = [];
      const problem = (message: string): void => void problems.push(message);
      const store = await openStore({ ...options(String(checkpointIntervalMs), { checkpointIntervalMs }), problem });
      expect(await longestLog(store, units)).toBeLessThan(whole / 2);
      const stored = await store.read.eventsAfter(-1, units * 4 + 1, null);
      await store.close();
      expect(problems).toEqual([]);
      expect(stored.map(({ position }) => position)).toEqual(Array.from({ length: units * 4 }, (_, index) => index));
    }
  });

  it('say that the log is too long, and still write', async () => {
    const store = await openStore(options('long', { checkpointIntervalMs: 600_000, walBytesMax: MEGABYTE }));
    expect(store.status().ok).toBe(true);
    const events = [event('policy.activation_refused', { problems: ['x'.repeat(2 * MEGABYTE)] })];
    await store.commit(
      unit({ appends: [{ stream: { kind: 'policy', id: newId('unit') }, expectedVersion: 0, events }] }),
    );
    const { ok, walBytes, reasons } = store.status();
    expect([ok, walBytes > 2 * MEGABYTE]).toEqual([false, true]);
    expect(reasons).toEqual([`the write-ahead log has ${walBytes} bytes, more than storage.walBytesMax ${MEGABYTE}`]);
    const call = new CallScript();
    await store.commit(call.proposeAndDispatch());
    expect(await store.read.toolCall(TENANT, call.toolCallId)).not.toBeNull();
    await store.close();
  });
});
