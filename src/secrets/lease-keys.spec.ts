import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { jwtVerify } from 'jose';
import { LeaseKeys } from './lease-keys.js';

let dir: string;
let nowMs: number;
const TIMES = { publishMs: 300_000, keepMs: 360_000 };
const open = (): LeaseKeys => new LeaseKeys(join(dir, 'lease-keys'), TIMES, { now: () => nowMs });
const kids = (keys: LeaseKeys): readonly string[] => keys.jwks().map(({ kid }) => kid);

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'countersign-lease-keys-'));
  nowMs = Date.parse('2031-01-01T10:00:00.000Z');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('the keys of lease tokens', () => {
  it('are made at the first use, private to their owner, and kept', () => {
    const keys = open();
    expect(keys.jwks()).toEqual([]);
    expect(readdirSync(dir)).toEqual([]);
    const kid = keys.currentKid;
    expect(kids(keys)).toHaveLength(2);
    const folder = join(dir, 'lease-keys');
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(folder)) {
      expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, name === 'keys.json' ? 0o600 : 0o400]);
    }
    expect(open().currentKid).toBe(kid);
    expect(JSON.stringify(keys.jwks())).not.toContain('"d"');
  });

  it('sign with the same bytes whenever the same is signed', async () => {
    const keys = open();
    const token = await keys.sign(keys.currentKid, { jti: 'lse_1' });
    expect(await open().sign(keys.currentKid, { jti: 'lse_1' })).toBe(token);
    const key = keys.publicKey(keys.currentKid);
    if (key === null) throw new Error('the current key is public');
    expect((await jwtVerify(token, key)).payload).toEqual({ jti: 'lse_1' });
  });

  it('are published before their first use, and stay until the longest lease has ended [P-07]', async () => {
    const keys = open();
    const first = keys.currentKid;
    const second = kids(keys)[1] as string;
    expect(() => keys.rotate('r1')).toThrow('has not been published for long enough');
    nowMs += TIMES.publishMs;
    const token = await keys.sign(first, { jti: 'lse_1' });
    const { kid, nextKid } = keys.rotate('r1');
    expect([kid, keys.currentKid]).toEqual([second, second]);
    expect(kids(keys)).toEqual([second, first, nextKid]);
    nowMs += TIMES.keepMs - 1;
    const old = keys.publicKey(first);
    if (old === null) throw new Error('a key that a lease needs is public');
    expect((await jwtVerify(token, old)).payload).toEqual({ jti: 'lse_1' });
    nowMs += 1;
    expect([keys.publicKey(first), kids(keys)]).toEqual([null, [second, nextKid]]);
    expect(readdirSync(join(dir, 'lease-keys'))).not.toContain(`${first}.private.json`);
    expect(kids(open())).toEqual([second, nextKid]);
  });

  it('change once for a command, however often it comes, also after a restart', () => {
    const keys = open();
    const second = (keys.currentKid, kids(keys)[1]);
    nowMs += TIMES.publishMs;
    const once = keys.rotate('r1');
    expect(once.kid).toBe(second);
    nowMs += TIMES.publishMs;
    expect(() => keys.mustBeOldEnough('r1')).not.toThrow();
    expect([keys.rotate('r1'), open().rotate('r1')]).toEqual([once, once]);
    expect(open().currentKid).toBe(second);
    expect(open().rotate('r2').kid).toBe(once.nextKid);
  });

  it('are not believed where others may put one of theirs', () => {
    const keys = open();
    expect(keys.currentKid).not.toBe('');
    chmodSync(join(dir, 'lease-keys', 'keys.json'), 0o620);
    expect(open).toThrow('can be written by others');
  });
});
