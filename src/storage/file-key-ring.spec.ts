import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SystemRandom } from '../system/random-source.js';
import { keyEncryptionKey } from './file-key-ring.js';
import { kekIdOf } from './local-key-ring.js';

const random = new SystemRandom();

describe('the key file', () => {
  let dir: string;
  const path = (): string => join(dir, 'keys', 'kek.json');
  const load = (create: boolean): Uint8Array => keyEncryptionKey(path(), create, random, () => 0);

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'countersign-key-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it('is made once and then read', () => {
    const made = load(true);
    expect(Buffer.from(load(true)).equals(Buffer.from(made))).toBe(true);
    expect(Buffer.from(load(false)).equals(Buffer.from(made))).toBe(true);
  });

  it('is JSON with the id of the key, and only its owner may read it', () => {
    const made = load(true);
    expect(JSON.parse(readFileSync(path(), 'utf8'))).toEqual({
      kekId: kekIdOf(made),
      algorithm: 'A256GCM',
      key: Buffer.from(made).toString('base64'),
      createdAt: '1970-01-01T00:00:00.000Z',
    });
    expect(statSync(path()).mode & 0o777).toBe(0o400);
    expect(readdirSync(join(dir, 'keys'))).toEqual(['kek.json']);
  });

  it('is not made when it has to be there', () => {
    expect(() => load(false)).toThrow(expect.objectContaining({ code: 'key_ring_unusable' }));
    expect(readdirSync(dir)).toEqual([]);
  });

  it('is made although an earlier attempt was cut off', () => {
    load(true);
    rmSync(path());
    writeFileSync(`${path()}.new`, '{"half');
    chmodSync(`${path()}.new`, 0o400);
    load(true);
    expect(readdirSync(join(dir, 'keys'))).toEqual(['kek.json']);
  });

  it.each([
    ['nothing', ''],
    ['no JSON', '{'],
    ['null', 'null'],
    ['no key', '{"kekId":"kek_1","algorithm":"A256GCM"}'],
    ['a key that is too short', '{"kekId":"kek_1","algorithm":"A256GCM","key":"AAAA"}'],
    ['a key with the id of another', `{"kekId":"kek_1","algorithm":"A256GCM","key":"${'A'.repeat(43)}="}`],
  ])('is refused when it holds %s, and is left as it is', (_, text) => {
    load(true);
    rmSync(path());
    writeFileSync(path(), text);
    expect(() => load(true)).toThrow(expect.objectContaining({ code: 'key_ring_unusable' }));
    expect(readFileSync(path(), 'utf8')).toBe(text);
  });

  it('is never quoted in an error', () => {
    load(true);
    const text = readFileSync(path(), 'utf8').replace('A256GCM', 'none');
    rmSync(path());
    writeFileSync(path(), text);
    const key = /"key":"([^"]+)"/.exec(text)?.[1] ?? '';
    expect(key).toHaveLength(44);
    expect(() => load(false)).toThrow(expect.objectContaining({ message: expect.not.stringContaining(key) }));
  });
});
