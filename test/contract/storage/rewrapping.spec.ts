import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import Database from 'better-sqlite3';
import { SecretKeeper } from '../../../src/secrets/secret-keeper.js';
import { StoredSecrets } from '../../../src/secrets/stored-secrets.js';
import { newKeyFile } from '../../../src/storage/file-key-ring.js';
import { databasePath } from '../../../src/storage/sqlite/database-file.js';
import type { UnitContext } from '../../../src/storage/units/unit-draft.js';
import { UnitDraft } from '../../../src/storage/units/unit-draft.js';
import { SystemClock } from '../../../src/system/clock.js';
import { IdSource } from '../../../src/system/id-source.js';
import { SystemRandom } from '../../../src/system/random-source.js';
import { settingsWith } from '../../builders/settings-examples.js';
import { newDataDir, openSqlite, type OpenedStore } from './opened-store.js';

const random = new SystemRandom();
const ids = new IdSource(new SystemClock(), random);
const KEYS = 7;

let dataDir: string;
let opened: OpenedStore;

const keyFile = (name: string): string => join(dataDir, 'keys', `${name}.json`);
const oldKey = (): string => join(dataDir, 'keys', 'kek.json');
const rotating = () => ({ keyFile: keyFile('new'), previousKeys: [`file:${oldKey()}`] });

async function reopen(
  keys: { readonly keyFile?: string; readonly previousKeys?: readonly string[] } = {},
): Promise<void> {
  await opened.store.close();
  opened = await openSqlite(keys, dataDir);
}

const begin = (tenant: string): UnitDraft => {
  const context: UnitContext = {
    tenant,
    lane: 'govern',
    actor: { sub: 'otto' },
    correlationId: 'c',
    occurredAt: '2031-01-01T00:00:00.000Z',
    causationId: null,
    causeKind: 'external',
  };
  return new UnitDraft(ids, context);
};

/** Each tenant has a data key of its own; its event is sealed under it. */
async function writeFor(tenant: string): Promise<void> {
  const draft = begin(tenant);
  const payload = { target: { kind: 'tenant', value: tenant }, reason: `why of ${tenant}` };
  draft.append({ kind: 'policy', id: tenant }, 0, [{ type: 'pause.set', payload }], {});
  await opened.store.commit(draft.build());
}

async function everythingReads(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const [event] = await opened.store.read.streamEvents(`t${n}`, { kind: 'policy', id: `t${n}` });
    expect(event?.payload['reason']).toBe(`why of t${n}`);
  }
  const stored = await StoredSecrets.load(opened.store.read, opened.store.custody.keyRing);
  expect(stored.find('payments', 1)?.reveal()).toBe('the-secret');
}

function kekIds(): readonly unknown[] {
  const database = new Database(databasePath(dataDir), { readonly: true });
  try {
    return database
      .prepare('SELECT kek_id FROM data_keys UNION SELECT kek_id FROM secrets WHERE kek_id IS NOT NULL')
      .pluck()
      .all();
  } finally {
    database.close();
  }
}

beforeEach(async () => {
  dataDir = newDataDir();
  opened = await openSqlite({}, dataDir);
  for (let n = 0; n < KEYS; n += 1) await writeFor(`t${n}`);
  const draft = begin('*');
  await new SecretKeeper(opened.store, random, settingsWith({})).putIn(draft, 'payments', 'the-secret');
  await opened.store.commit(draft.build());
  newKeyFile(keyFile('new'), random, Date.now);
});
afterEach(() => opened.discard());

describe('rewrapping under a new key-encryption key', () => {
  it('moves everything in bounded steps while the store is read and written, and then the old key is needed no more', async () => {
    await reopen(rotating());
    const { custody } = opened.store;
    const first = await custody.rewrap('', 3);
    expect(first).toMatchObject({ moved: 3, outstanding: [custody.keyRing.ids[1]] });
    await writeFor('t7');
    await everythingReads(8);
    const second = await custody.rewrap(first.next ?? '', 100);
    expect(second).toMatchObject({ next: null, moved: KEYS + 2 - 3 });
    await custody.releaseOtherKeys();
    await everythingReads(8);
    await reopen({ keyFile: keyFile('new') });
    await everythingReads(8);
    await opened.store.close();
    expect(kekIds()).toEqual([custody.keyRing.currentId]);
    opened = await openSqlite({ keyFile: keyFile('new') }, dataDir);
  });

  it('that stops between two steps leaves everything readable by both keys, and is begun again', async () => {
    await reopen(rotating());
    await opened.store.custody.rewrap('', 3);
    await reopen(rotating());
    await everythingReads(KEYS);
    const { custody } = opened.store;
    expect(await custody.rewrap('', 100)).toMatchObject({ moved: KEYS + 2 - 3, next: null });
    await custody.releaseOtherKeys();
    await everythingReads(KEYS);
  });

  it('does not let the old key go while anything lies under it', async () => {
    await reopen(rotating());
    await opened.store.custody.rewrap('', 3);
    await expect(opened.store.custody.releaseOtherKeys()).rejects.toThrow('still wrapped by another');
    await everythingReads(KEYS);
  });

  it.each([
    ['before the first step', 0],
    ['after some steps', 3],
    ['after the last step, while the old key was not let go', 100],
  ])('refuses to start without the old key %s, and says which is missing', async (_, limit) => {
    const oldId = opened.store.custody.keyRing.currentId;
    await reopen(rotating());
    if (limit > 0) await opened.store.custody.rewrap('', limit);
    await opened.store.close();
    await expect(openSqlite({ keyFile: keyFile('new') }, dataDir)).rejects.toMatchObject({
      code: 'key_ring_unusable',
      message: expect.stringContaining(`${oldId}): name it in storage.previousKeys`) as unknown,
    });
    opened = await openSqlite(rotating(), dataDir);
    await everythingReads(KEYS);
  });

  it('refuses to go back to the old key alone once anything may lie under the new one', async () => {
    await reopen(rotating());
    const newId = opened.store.custody.keyRing.currentId;
    await opened.store.close();
    await expect(openSqlite({}, dataDir)).rejects.toMatchObject({ message: expect.stringContaining(newId) as unknown });
    opened = await openSqlite(rotating(), dataDir);
  });
});
