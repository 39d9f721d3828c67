import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openStore } from '../../../src/storage/sqlite/open-store.js';
import type { SqliteStore } from '../../../src/storage/sqlite/sqlite-store.js';
import { LANES } from '../../../src/storage/unit.js';
import { newDataDir, sqliteOptions } from './opened-store.js';
import { CallScript, TENANT } from './unit-builders.js';

describe('taking over a data directory that another process holds', () => {
  let dataDir: string;
  let opened: SqliteStore[];
  const open = async (takeOver = false): Promise<SqliteStore> => {
    const store = await openStore({ ...sqliteOptions(dataDir), takeOver });
    opened.push(store);
    return store;
  };
  const registered = async (takeOver = false): Promise<SqliteStore> => {
    const store = await open(takeOver);
    await store.registerInstance();
    return store;
  };
  const takeOvers = (store: SqliteStore) => store.read.streamEvents('*', { kind: 'ledger', id: '-' });

  beforeEach(() => {
    dataDir = newDataDir();
    opened = [];
  });
  afterEach(async () => {
    for (const store of opened) await store.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('puts the next epoch on record, and the one it takes over from', async () => {
    const first = await open();
    const before = await first.registerInstance();
    const second = await open(true);
    const instance = await second.registerInstance();
    expect(instance.epoch).toBe(before.epoch + 1);
    expect(await takeOvers(second)).toMatchObject([
      {
        envelope: { eventType: 'instance.taken_over', producer: 'recovery', actor: { sub: 'countersign' } },
        payload: { ...instance, previousInstanceId: before.instanceId },
      },
    ]);
    expect((await second.read.instances()).map(({ epoch, state }) => [epoch, state])).toEqual([
      [before.epoch, 'ended'],
      [instance.epoch, 'running'],
    ]);
  });

  it('ends every write of the other, whatever it is about, and tells it once', async () => {
    const first = await registered();
    let told = 0;
    first.whenTakenOver(() => (told += 1));
    const known = new CallScript();
    await first.commit(known.proposeAndDispatch());
    const second = await registered(true);
    const head = second.feed.head();
    for (const lane of LANES) {
      const unit = { ...new CallScript().proposeAndDispatch(), lane };
      await expect(first.commit(unit)).rejects.toMatchObject({ code: 'instance_taken_over' });
    }
    expect(first.status()).toMatchObject({ ok: false, failure: expect.stringContaining('taken over') });
    expect(told).toBe(1);
    const late = await new Promise((resolve) => first.whenTakenOver(() => resolve('told at once')));
    expect(late).toBe('told at once');
    const own = new CallScript();
    expect(await second.commit(own.proposeAndDispatch())).toMatchObject({ firstPosition: head });
    expect((await second.read.toolCall(TENANT, own.toolCallId))?.status).toBe('dispatching');
  });

  it('counts for nothing what shares a batch with the first write after it', async () => {
    const first = await registered();
    const second = await registered(true);
    const scripts = Array.from({ length: 20 }, () => new CallScript());
    const outcomes = await Promise.allSettled(scripts.map((script) => first.commit(script.proposeAndDispatch())));
    expect(outcomes.map(({ status }) => status)).toEqual(scripts.map(() => 'rejected'));
    for (const { toolCallId } of scripts) expect(await second.read.toolCall(TENANT, toolCallId)).toBeNull();
  });

  it('holds the directory from then on, also when the other has gone', async () => {
    const first = await registered();
    const second = await registered(true);
    await expect(open()).rejects.toMatchObject({ code: 'instance_already_running' });
    await first.close();
    await expect(open()).rejects.toMatchObject({ code: 'instance_already_running' });
    expect(JSON.parse(readFileSync(join(dataDir, 'instance.json'), 'utf8'))).toMatchObject({ pid: process.pid });
    await second.close();
    await (await open()).close();
    expect(readdirSync(dataDir).filter((name) => name.startsWith('instance'))).toEqual([
      'instance.json',
      'instance.lock',
    ]);
  });

  it('is the only one to say how far the store has come, also when the other closes without having noticed', async () => {
    const note = () => JSON.parse(readFileSync(join(dataDir, 'head.json'), 'utf8')) as unknown;
    const first = await registered();
    await first.custody.keep();
    const second = await registered(true);
    await second.custody.keep();
    await first.close();
    expect(note()).toMatchObject({ size: second.feed.head(), closed: false });
    await second.close();
    expect(note()).toMatchObject({ size: second.feed.head(), closed: true });
  });

  it('changes nothing before it has registered: the other goes on, and nobody else gets in', async () => {
    const first = await registered();
    const second = await open(true);
    await first.commit(new CallScript().proposeAndDispatch());
    await second.close();
    await first.commit(new CallScript().proposeAndDispatch());
    await expect(open()).rejects.toMatchObject({ code: 'instance_already_running' });
  });

  it('is a plain start where nobody holds the directory', async () => {
    await (await registered()).close();
    const store = await registered(true);
    expect(await takeOvers(store)).toEqual([]);
    await expect(open()).rejects.toMatchObject({ code: 'instance_already_running' });
  });

  it('is done by one of two that try in the same moment', async () => {
    await registered();
    const [left, right] = [await open(true), await open(true)];
    const outcomes = await Promise.allSettled([left.registerInstance(), right.registerInstance()]);
    const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    expect(failures).toEqual([expect.objectContaining({ code: 'instance_already_running' })]);
    const winner = outcomes[0].status === 'fulfilled' ? left : right;
    await winner.commit(new CallScript().proposeAndDispatch());
    expect((await winner.read.instances()).filter(({ state }) => state === 'running')).toHaveLength(1);
  });
});
