import { describe, expect, it } from '@jest/globals';
import { SystemRandom } from '../../system/random-source.js';
import { dataKeyContext } from '../data-key.js';
import type { DataKeyRow } from '../data-key.js';
import { LocalKeyRing } from '../local-key-ring.js';
import type { ReadConnection } from '../read-connection.js';
import { OpenedKeys } from './opened-keys.js';

const random = new SystemRandom();

describe('data keys that were opened', () => {
  const ring = new LocalKeyRing(random.bytes(32), random);
  const rows = new Map<string, DataKeyRow>();
  let reads = 0;
  const connection: ReadConnection = {
    one: <R>(_: string, id: unknown) => {
      reads += 1;
      return Promise.resolve((rows.get(String(id)) ?? null) as R | null);
    },
    many: () => Promise.resolve([]),
  };
  const add = (id: string, scope: string): Uint8Array => {
    const key = random.bytes(32);
    const wrapped = ring.wrap(key, dataKeyContext(id, scope));
    rows.set(id, { data_key_id: id, scope, wrapped, kek_id: ring.currentId });
    return key;
  };

  it('are read and unwrapped once', async () => {
    const key = add('key_1', 'session/a');
    const keys = new OpenedKeys(connection, ring);
    reads = 0;
    for (let n = 0; n < 3; n += 1) expect(Buffer.from(await keys.key('key_1')).equals(Buffer.from(key))).toBe(true);
    expect(reads).toBe(1);
  });

  it('are let go when there are too many, the least recently used first', async () => {
    const keys = new OpenedKeys(connection, ring, 2);
    for (const id of ['a', 'b', 'c']) add(id, id);
    await keys.key('a');
    await keys.key('b');
    await keys.key('a');
    await keys.key('c');
    reads = 0;
    await keys.key('a');
    await keys.key('c');
    expect(reads).toBe(0);
    await keys.key('b');
    expect(reads).toBe(1);
  });

  it('are refused when they are gone or belong to another scope', async () => {
    const keys = new OpenedKeys(connection, ring);
    await expect(keys.key('none')).rejects.toThrow('the key of a payload is gone');
    add('key_2', 'session/a');
    rows.set('key_2', { ...(rows.get('key_2') as DataKeyRow), scope: 'session/b' });
    await expect(keys.key('key_2')).rejects.toThrow('do not open');
  });
});
