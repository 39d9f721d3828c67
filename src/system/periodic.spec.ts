import { describe, expect, it } from '@jest/globals';
import { KeptLog } from '../../test/builders/installation.js';
import { Periodic, type Chore } from './periodic.js';

const NEVER_MS = 600_000;
const chore = (name: string, tick: () => Promise<number | void>): Chore => ({ name, tick });

describe('chores that come again', () => {
  it('run once at the start, one after the other', async () => {
    const order: string[] = [];
    const slow = chore('slow', async () => {
      order.push('slow begins');
      await new Promise((resolve) => setImmediate(resolve));
      order.push('slow ends');
    });
    const quick = chore('quick', async () => void order.push('quick'));
    const periodic = new Periodic([slow, quick], NEVER_MS, new KeptLog());
    await periodic.start();
    await periodic.stop();
    expect(order).toEqual(['slow begins', 'slow ends', 'quick']);
  });

  it('go on when one of them fails, which is logged without its text', async () => {
    const log = new KeptLog();
    let ran = 0;
    const failing = chore('failing', async () => {
      throw new TypeError('hunter2');
    });
    const periodic = new Periodic([failing, chore('next', async () => void (ran += 1))], NEVER_MS, log);
    await periodic.start();
    await periodic.wake();
    await periodic.stop();
    expect(ran).toBe(2);
    expect(log.lines).toHaveLength(2);
    expect(log.lines[0]).toMatchObject({ level: 'error', fields: { task: 'failing', error: 'TypeError' } });
  });

  it('say which of them did not do all they should in their last pass', async () => {
    let failed: number | null = 2;
    const rows = chore('rows', async () => (failed === null ? Promise.reject(new Error('down')) : failed));
    const periodic = new Periodic([rows, chore('other', async () => {})], NEVER_MS, new KeptLog());
    await periodic.start();
    expect([...periodic.troubles]).toEqual([['rows', 2]]);
    failed = null;
    await periodic.wake();
    expect([...periodic.troubles]).toEqual([['rows', null]]);
    failed = 0;
    await periodic.wake();
    expect([...periodic.troubles]).toEqual([]);
    await periodic.stop();
  });

  it('never overlap with themselves', async () => {
    let [running, most] = [0, 0];
    const task = chore('task', async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
    });
    const periodic = new Periodic([task], NEVER_MS, new KeptLog());
    await Promise.all([periodic.start(), periodic.wake(), periodic.wake()]);
    await periodic.stop();
    expect(most).toBe(1);
  });

  it('have ended when stop answers', async () => {
    let done = false;
    const task = chore('task', async () => {
      await new Promise((resolve) => setImmediate(resolve));
      done = true;
    });
    const periodic = new Periodic([task], NEVER_MS, new KeptLog());
    void periodic.start();
    await periodic.stop();
    expect(done).toBe(true);
  });
});
