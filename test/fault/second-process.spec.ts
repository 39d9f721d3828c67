import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { PEOPLE } from '../../examples/refunds/stack.mjs';
import { FaultStack, NEEDS_LEAD, TERMINAL } from './support/fault-stack.js';
import { contradictions } from './support/oracle.js';
import { callRecords, eventCounts, halfWritten } from './support/stopped-database.js';

let stack: FaultStack;

describe('a second process on the same data directory', () => {
  afterEach(() => stack.end());

  it('is refused with the pid and the time of the one that has it, and disturbs nothing', async () => {
    stack = await FaultStack.start();
    await stack.order('shared');
    const load = Promise.all(
      [1, 2, 3, 4, 5].map((n) => stack.refund(`shared-${n}`, { orderId: 'shared', amountMinor: n }, 20)),
    );
    const refusal = await stack.launch().then(
      () => 'it runs',
      (error: Error) => error.message,
    );
    expect(refusal).toMatch(/instance_already_running/);
    expect(refusal).toMatch(new RegExp(`\\(pid ${stack.running.pid}, since \\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z\\)`));
    expect((await load).map(({ body }) => body.status)).toEqual(Array.from({ length: 5 }, () => 'completed'));
    expect((await stack.refund('after', { orderId: 'shared', amountMinor: 6 }, 20)).body.status).toBe('completed');
  });

  it('lets one of two have it that start within ten milliseconds, twenty times, and each leftover call gets one closing record', async () => {
    stack = await FaultStack.start();
    await stack.order('leftover');
    await stack.fault({ orderId: 'leftover', delayAfterMs: 60_000 });
    const ids: string[] = [];
    for (let round = 1; round <= 20; round += 1) {
      if (stack.proxy !== null) ids.push(...(await leaveBehind(4, round)));
      const pidFiles = [join(stack.dir, 'first.pid'), join(stack.dir, 'second.pid')];
      const both = pidFiles.map((file, n) => pause(n * (round % 10)).then(() => stack.launch({}, file)));
      const refused = await firstRefused(both);
      expect([round, refused.message]).toEqual([round, expect.stringMatching(/instance_already_running/)]);
      const holder = Number(readFileSync(pidFiles[1 - refused.index] as string, 'utf8'));
      // A whole start is dear, and half of one is the harder case: most winners die somewhere in their recovery.
      const comesUp = round % 4 === 0;
      if (!comesUp) {
        await pause((round % 4) * 150);
        process.kill(holder, 'SIGKILL');
      }
      const up = (await Promise.allSettled(both)).flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      expect([round, up.map(({ pid }) => pid)]).toEqual([round, up.length > 0 || comesUp ? [holder] : []]);
      // One that was quicker than its death came up and is dead too.
      if (!comesUp) await Promise.all(up.map(({ exited }) => exited));
      stack.proxy = comesUp ? (up[0] ?? null) : null;
    }
    const views = await stack.settled(ids, 30_000);
    expect(views.filter(({ status }) => !TERMINAL.includes(status))).toEqual([]);
    const stats = await stack.stats();
    await stack.stop();
    expect(contradictions(callRecords(stack.dataDir), stats)).toEqual([]);
    expect(halfWritten(stack.dataDir)).toEqual([]);
    const unknown = eventCounts(stack.dataDir, 'tool.call.result_unknown');
    const completed = eventCounts(stack.dataDir, 'tool.call.completed');
    expect(ids).toHaveLength(20);
    expect(ids.map((id) => [unknown.get(id), completed.get(id)])).toEqual(ids.map(() => [1, 1]));
  }, 400_000);

  /** So many calls that have reached the tool and have no answer when their process is killed. */
  async function leaveBehind(count: number, round: number): Promise<string[]> {
    const reached = async (): Promise<number> => Object.keys((await stack.stats()).requestsByKey).length;
    const before = await reached();
    const answers = await Promise.all(
      Array.from({ length: count }, (_, n) =>
        stack.refund(`leftover-${round}-${n}`, { orderId: 'leftover', amountMinor: round * 10 + n }),
      ),
    );
    while ((await reached()) < before + count) await pause(10);
    await stack.kill();
    return answers.map(({ body }) => body.toolCallId as string);
  }

  /** Which is the first to end instead of coming up, and what it says; rejects when all come up. */
  function firstRefused(launches: readonly Promise<unknown>[]): Promise<{ index: number; message: string }> {
    return Promise.any(
      launches.map((launch, index) =>
        launch.then(
          () => Promise.reject(new Error('it came up')),
          (error: Error) => ({ index, message: error.message }),
        ),
      ),
    );
  }
});

describe('another program that holds a write lock on the database', () => {
  beforeAll(async () => {
    stack = await FaultStack.start({ timeout: '30s' });
    await stack.order('locked');
  });
  afterAll(() => stack.end());

  it('makes an approval and its dispatch wait for three seconds, and then they succeed', async () => {
    const waiting = await stack.refundForApproval('locked', 'locked');
    const holder = await holdWriteLock(stack.dataDir, 3_000);
    const begun = performance.now();
    const vote = await stack.decide(PEOPLE.lena, waiting, 'allow');
    expect(performance.now() - begun).toBeGreaterThan(2_000);
    await holder.released;
    expect(vote.status).toBe(200);
    expect((await stack.show(waiting.toolCallId, 20)).status).toBe('completed');
    expect(Object.values((await stack.stats()).requestsByKey)).toEqual([1]);
  });

  it('is answered with 503 and without an effect when it holds on for too long, and the same request succeeds later', async () => {
    const waiting = await stack.refundForApproval('locked-long', 'locked', NEEDS_LEAD + 1);
    const before = (await stack.stats()).requestsByKey;
    const holder = await holdWriteLock(stack.dataDir, 12_000);
    const [vote, proposal] = await Promise.all([
      stack.decide(PEOPLE.lena, waiting, 'allow'),
      stack.refund('during', { orderId: 'locked', amountMinor: 5 }),
    ]);
    expect([vote.status, vote.body.code]).toEqual([503, 'store_unavailable']);
    expect([proposal.status, proposal.body.code]).toEqual([503, 'store_unavailable']);
    expect((await stack.stats()).requestsByKey).toEqual(before);
    await holder.released;

    expect((await stack.decide(PEOPLE.lena, waiting, 'allow')).status).toBe(200);
    const again = await stack.refund('during', { orderId: 'locked', amountMinor: 5 }, 20);
    expect(again.body.status).toBe('completed');
    expect((await stack.show(waiting.toolCallId, 20)).status).toBe('completed');
    const stats = await stack.stats();
    await stack.stop();
    expect(contradictions(callRecords(stack.dataDir), stats)).toEqual([]);
    expect(Object.keys(stats.requestsByKey)).toHaveLength(Object.keys(before).length + 2);
  });
});

/** A process of its own: only another process meets the lock of the proxy's connection as another program would. */
const HOLDER = `
  import Database from 'better-sqlite3';
  const database = new Database(process.argv[1]);
  database.pragma('busy_timeout = 5000');
  database.exec('BEGIN IMMEDIATE');
  process.stdout.write('held');
  setTimeout(() => { database.exec('COMMIT'); process.exit(0); }, Number(process.argv[2]));
`;

async function holdWriteLock(dataDir: string, holdMs: number): Promise<{ released: Promise<unknown> }> {
  const args = ['--input-type=module', '-e', HOLDER, join(dataDir, 'countersign.sqlite'), String(holdMs)];
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const released = once(child, 'exit');
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  return { released };
}
