import { describe, expect, it } from '@jest/globals';
import { SystemRandom } from '../system/random-source.js';
import { LocalKeyRing, kekIdOf } from './local-key-ring.js';

const random = new SystemRandom();

describe('a key ring of one key', () => {
  const kek = random.bytes(32);
  const ring = new LocalKeyRing(kek, random);
  const key = random.bytes(32);

  it('unwraps what it wrapped', () => {
    const wrapped = ring.wrap(key, 'context');
    expect(Buffer.from(ring.unwrap(ring.currentId, wrapped, 'context')).equals(Buffer.from(key))).toBe(true);
  });

  it('wraps the same key into other bytes every time', () => {
    expect(Buffer.from(ring.wrap(key, 'c')).equals(Buffer.from(ring.wrap(key, 'c')))).toBe(false);
  });

  it('refuses another context, another ring and the id of another key', () => {
    const wrapped = ring.wrap(key, 'context');
    const other = new LocalKeyRing(random.bytes(32), random);
    expect(() => ring.unwrap(ring.currentId, wrapped, 'other')).toThrow('do not open');
    expect(() => other.unwrap(other.currentId, wrapped, 'context')).toThrow('do not open');
    expect(() => other.unwrap(ring.currentId, wrapped, 'context')).toThrow('not loaded');
  });

  it('has an id that follows from the key and does not show it', () => {
    expect(kekIdOf(kek)).toBe(ring.currentId);
    expect(ring.currentId).toMatch(/^kek_[0-9a-f]{32}$/);
    expect(ring.currentId).not.toContain(Buffer.from(kek).toString('hex').slice(0, 8));
  });

  it('refuses a key of another length', () => {
    expect(() => new LocalKeyRing(random.bytes(16), random)).toThrow('32 bytes');
  });
});
