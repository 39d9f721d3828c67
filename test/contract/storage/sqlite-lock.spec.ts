import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { databasePath } from '../../../src/storage/sqlite/database-file.js';
import { JsonChild } from './child-process.js';
import { newDataDir, openSqlite } from './opened-store.js';
import type { OpenedStore } from './opened-store.js';
import { commitAll, tally } from './outcomes.js';
import { CallScript, TENANT } from './unit-builders.js';

describe('a database that another program has locked (L06)', () => {
  let opened: OpenedStore;
  let path: string;

  beforeEach(async () => {
    const dataDir = newDataDir();
    path = databasePath(dataDir);
    opened = await openSqlite({}, dataDir);
  });
  afterEach(() => opened.discard());

  const locked = async (holdMs: number): Promise<JsonChild> => {
    const child = JsonChild.start(import.meta.url, './children/hold-write-lock.mjs', path, String(holdMs));
    await child.next();
    return child;
  };

  it('is waited for: units that arrive during 3 seconds of it are recorded afterwards', async () => {
    const { store } = opened;
    const other = await locked(3_000);
    const started = Date.now();
    const scripts = Array.from({ length: 20 }, () => new CallScript());
    const outcomes = await commitAll(
      store,
      scripts.map((script) => script.proposeAndDispatch()),
    );
    expect(tally(outcomes)).toEqual({ committed: 20 });
    expect(Date.now() - started).toBeGreaterThan(2_000);
    await other.ended();
  });

  it('can be read meanwhile', async () => {
    const { store } = opened;
    const call = new CallScript();
    await store.commit(call.proposeAndDispatch());
    const other = await locked(60_000);
    expect((await store.read.toolCall(TENANT, call.toolCallId))?.status).toBe('dispatching');
    await other.kill();
  });

  it('makes units fail with nothing written when it stays, and the store goes on when it is gone', async () => {
    const { store } = opened;
    const other = await locked(60_000);
    const call = new CallScript();
    const whole = call.proposeAndDispatch();
    await expect(store.commit(whole)).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(store.status()).toMatchObject({ ok: true });
    await other.kill();
    expect(await store.read.toolCall(TENANT, call.toolCallId)).toBeNull();
    expect(await store.commit(whole)).toMatchObject({ firstPosition: 0, eventCount: 4 });
  });
});
