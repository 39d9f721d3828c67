import { describe, expect, it } from '@jest/globals';
import { Installation } from '../../../test/builders/installation.js';
import { GuardFailed } from '../../storage/unit.js';
import { Ownership } from './ownership.js';

describe('a process that says that it lives', () => {
  it('writes when it did, and records no event', async () => {
    const { desk, store, clock } = new Installation();
    clock.advance(5000);
    await new Ownership(desk).tick();
    expect(store.rows('instances')[0]?.heartbeat_at).toBe(clock.iso);
    expect(store.lastTypes).toEqual([]);
  });

  it('learns that its epoch is over', async () => {
    const { desk, store } = new Installation();
    const [row] = store.rows('instances');
    if (row === undefined) throw new Error('no instance');
    store.seed('instances', { ...row, state: 'ended' });
    await expect(new Ownership(desk).tick()).rejects.toThrow(GuardFailed);
  });
});
