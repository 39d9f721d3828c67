import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SystemRandom } from '../system/random-source.js';
import { newKeyFile } from './file-key-ring.js';
import { keyEncryptionKeys, type KeyEncryptionKeys, type KeySettings } from './key-encryption-keys.js';
import { LocalKeyRing, kekIdOf } from './local-key-ring.js';

const random = new SystemRandom();
const VARIABLE = 'SPEC_KEY_ENCRYPTION_KEY';
const unusable = (message: RegExp): unknown =>
  expect.objectContaining({ code: 'key_ring_unusable', message: expect.stringMatching(message) as unknown });

describe('the key-encryption keys of the settings', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'countersign-keks-'));
  });
  afterEach(() => {
    rmSync(dir, { recursive: true, force: true });
    delete process.env[VARIABLE];
  });

  const file = (name: string): string => join(dir, name);
  const load = (more: Partial<KeySettings>, create = false): KeyEncryptionKeys =>
    keyEncryptionKeys({ keyFile: file('a'), keyEnv: null, previousKeys: [], ...more }, create, random, () => 0);

  it('are the one of the file, and those before it in their order', () => {
    const ids = ['a', 'b', 'c'].map((name) => newKeyFile(file(name), random, () => 0));
    const { current, previous } = load({ previousKeys: [`file:${file('b')}`, `file:${file('c')}`] });
    expect([current, ...previous].map(kekIdOf)).toEqual(ids);
  });

  it('come from a variable where the settings say so, and then no file is made', () => {
    const key = random.bytes(32);
    process.env[VARIABLE] = Buffer.from(key).toString('base64');
    expect(kekIdOf(load({ keyEnv: VARIABLE }, true).current)).toBe(kekIdOf(key));
    expect(() => load({})).toThrow(unusable(/missing/));
  });

  it('are refused where a variable holds none, and what it holds is not repeated', () => {
    expect(() => load({ keyEnv: VARIABLE })).toThrow(unusable(/is not set/));
    process.env[VARIABLE] = 'c2hvcnQ=';
    expect(() => load({ keyEnv: VARIABLE })).toThrow(unusable(/^(?!.*c2hvcnQ).*32 bytes/));
  });

  it('are never made for the past: a previous key that is missing is a mistake', () => {
    expect(() => load({ previousKeys: [`file:${file('gone')}`] }, true)).toThrow(unusable(/missing/));
  });

  it.each([0o404, 0o440 + 0o020, 0o444, 0o644, 0o602])('are refused in a file of mode %o', (mode) => {
    newKeyFile(file('a'), random, () => 0);
    chmodSync(file('a'), mode);
    expect(() => load({})).toThrow(unusable(/chmod 400/));
  });

  it.each([0o400, 0o600, 0o440])('are taken from a file of mode %o', (mode) => {
    newKeyFile(file('a'), random, () => 0);
    chmodSync(file('a'), mode);
    expect(load({}).current).toHaveLength(32);
  });

  it('are never replaced by a new one', () => {
    newKeyFile(file('a'), random, () => 0);
    expect(() => newKeyFile(file('a'), random, () => 0)).toThrow(unusable(/never replaced/));
  });
});

describe('a key ring of several keys', () => {
  const [old, current] = [random.bytes(32), random.bytes(32)];
  const before = new LocalKeyRing(old, random);
  const now = new LocalKeyRing(current, random, [old]);
  const key = random.bytes(32);

  it('unwraps what any of them wrapped, and wraps with the first', () => {
    expect(Buffer.from(now.unwrap(before.currentId, before.wrap(key, 'c'), 'c'))).toEqual(Buffer.from(key));
    expect(now.ids).toEqual([kekIdOf(current), kekIdOf(old)]);
    const wrapped = now.wrap(key, 'c');
    expect(() => before.unwrap(now.currentId, wrapped, 'c')).toThrow('not loaded');
    expect(Buffer.from(new LocalKeyRing(current, random).unwrap(now.currentId, wrapped, 'c'))).toEqual(
      Buffer.from(key),
    );
  });

  it('does not try one key for what another wrapped', () => {
    expect(() => now.unwrap(now.currentId, before.wrap(key, 'c'), 'c')).toThrow('do not open');
  });
});
