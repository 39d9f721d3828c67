import { join } from 'node:path';
import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { ReadinessRepresentation } from '../../src/client/contract/health.js';
import { until } from '../support/until.js';
import { FaultStack, TERMINAL, type Answer } from './support/fault-stack.js';
import { contradictions } from './support/oracle.js';
import { callRecords, halfWritten } from './support/stopped-database.js';
import { announceMissingTracer, canTrace } from './support/syscall-trace.js';
import { TinyDisk, canMount } from './support/tiny-disk.js';

announceMissingTracer('a flush that fails');

describe('a disk that becomes full', () => {
  let disk: TinyDisk | null = null;
  let stack: FaultStack | null = null;

  afterEach(async () => {
    await stack?.end();
    disk?.unmount();
    [stack, disk] = [null, null];
  });

  (canMount ? it : it.skip)(
    'refuses with 503, is not ready, sends nothing unrecorded, and has everything acknowledged after space returns',
    async () => {
      disk = TinyDisk.mount(16) as TinyDisk;
      stack = await FaultStack.start({ dataDir: join(disk.path, 'data') });
      const { order, refund, stats } = bound(stack);
      await order('full');
      disk.fillUpTo(2 * 1024 * 1024);
      const acknowledged = new Map<string, string>();
      const refusals: Answer[] = [];
      for (let n = 0; refusals.length === 0; n += 8) {
        const keys = Array.from({ length: 8 }, (_, k) => n + k);
        const answers = await Promise.all(
          keys.map((key) => refund(`full-${key}`, { orderId: 'full', amountMinor: key + 1 })),
        );
        answers.forEach((answer, k) => {
          if (answer.status >= 400) refusals.push(answer);
          else acknowledged.set(`full-${keys[k]}`, answer.body.toolCallId);
        });
        expect(n).toBeLessThan(4_000);
      }
      expect(refusals.map(({ status }) => status)).toEqual(refusals.map(() => 503));
      expect(refusals.filter(({ body }) => !['store_unavailable', 'durability_failed'].includes(body.code))).toEqual(
        [],
      );
      const ready = await fetch(`${stack.running.url}/readyz`);
      const { reasons } = (await ready.json()) as ReadinessRepresentation;
      expect([ready.status, reasons.length > 0]).toEqual([503, true]);
      expect(reasons.find(({ severity }) => severity === 'not_ready')).toMatchObject({ name: 'disk' });
      expect((await fetch(`${stack.running.url}/healthz`)).status).toBe(200);

      // No flush that was refused is tried again, and no call is sent that was refused: what comes after the space is back runs.
      const refusedKeys = Object.keys((await stats()).requestsByKey).length;
      disk.makeRoom();
      await until(
        'the process is ready again',
        async () => (await fetch(`${stack?.running.url}/readyz`)).status,
        (status) => status === 200,
        10_000,
      );
      const late = await refund('late', { orderId: 'full', amountMinor: 3_333 }, 20);
      expect([late.headers.get('idempotent-replayed'), late.body.status]).toEqual([null, 'completed']);
      const sent = Object.keys((await stats()).requestsByKey);
      expect(sent.length).toBeLessThanOrEqual(Math.max(refusedKeys, acknowledged.size) + 1);
      await stack.kill();

      await stack.boot();
      const ids: string[] = [];
      for (const [key, id] of acknowledged) {
        const again = await refund(key, { orderId: 'full', amountMinor: Number(key.slice(5)) + 1 });
        expect([key, again.body.toolCallId]).toEqual([key, id]);
        ids.push(id);
      }
      const views = await stack.settled(ids, 30_000);
      expect(views.filter(({ status }) => !TERMINAL.includes(status))).toEqual([]);
      const lateAgain = await refund('late', { orderId: 'full', amountMinor: 3_333 }, 20);
      expect([lateAgain.headers.get('idempotent-replayed'), lateAgain.body.status]).toEqual(['true', 'completed']);
      const after = await stats();
      await stack.stop();
      const records = callRecords(stack.dataDir);
      expect(contradictions(records, after)).toEqual([]);
      expect(sent.filter((key) => !records.some(({ downstreamKey }) => downstreamKey === key))).toEqual([]);
      expect(halfWritten(stack.dataDir)).toEqual([]);
    },
  );
});

describe('a flush that fails', () => {
  let stack: FaultStack | null = null;
  afterEach(async () => {
    await stack?.end();
    stack = null;
  });

  (canTrace ? it : it.skip)(
    'is final for the process: it says so, sends nothing and writes nothing more although the disk is well again; the next start goes on',
    async () => {
      stack = await FaultStack.start();
      const { order, refund, stats } = bound(stack);
      await order('broken');
      const first = await refund('kept', { orderId: 'broken', amountMinor: 1 }, 20);
      expect(first.body.status).toBe('completed');
      const stopFailing = await failingFlush(stack.running.pid);
      const refused = await refund('lost', { orderId: 'broken', amountMinor: 2 });
      await stopFailing();
      expect([refused.status, refused.body.code]).toEqual([503, 'store_unavailable']);
      const ready = await fetch(`${stack.running.url}/readyz`);
      const { reasons } = (await ready.json()) as ReadinessRepresentation;
      expect([ready.status, reasons[0]?.name, reasons[0]?.detail]).toEqual([
        503,
        'disk',
        expect.stringContaining('SQLITE_IOERR'),
      ]);
      const sent = (await stats()).executions;
      for (let tries = 0; tries < 3; tries += 1) {
        const again = await refund(`later-${tries}`, { orderId: 'broken', amountMinor: 3 });
        expect([again.status, again.body.code]).toEqual([503, 'store_unavailable']);
      }
      // Reads go on.
      const seen = await refund('kept', { orderId: 'broken', amountMinor: 1 });
      expect([seen.status, seen.body.toolCallId]).toEqual([200, first.body.toolCallId]);
      expect((await stats()).executions).toBe(sent);

      await stack.kill();
      await stack.boot();
      const late = await refund('later-0', { orderId: 'broken', amountMinor: 3 }, 20);
      expect(late.body.status).toBe('completed');
      expect((await refund('lost', { orderId: 'broken', amountMinor: 2 }, 0)).status).toBeLessThan(300);
      const after = await stats();
      expect(Object.values(after.executionsByKey).filter((count) => count > 1)).toEqual([]);
      await stack.stop();
      expect(contradictions(callRecords(stack.dataDir), after)).toEqual([]);
      expect(halfWritten(stack.dataDir)).toEqual([]);
    },
  );
});

/** Lets every flush of a process fail with EIO; answers how to end that. */
async function failingFlush(pid: number): Promise<() => Promise<void>> {
  const inject = ['-e', 'trace=fsync,fdatasync', '-e', 'inject=fsync,fdatasync:error=EIO'];
  const tracer = spawn('strace', ['-f', ...inject, '-p', String(pid)], { stdio: ['ignore', 'ignore', 'pipe'] });
  const lines = createInterface({ input: tracer.stderr as NodeJS.ReadableStream });
  await new Promise<void>((resolve, reject) => {
    tracer.once('exit', (code) => reject(new Error(`strace ended with ${code}`)));
    lines.on('line', (line) => {
      if (line.startsWith('strace: Process') && line.includes('attached')) resolve();
    });
  });
  return async () => {
    const closed = once(tracer, 'close');
    tracer.kill('SIGINT');
    await closed;
  };
}

function bound(stack: FaultStack): Pick<FaultStack, 'order' | 'refund' | 'stats'> {
  return {
    order: (orderId) => stack.order(orderId),
    refund: (key, args, wait) => stack.refund(key, args, wait),
    stats: () => stack.stats(),
  };
}
