import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { ReadinessRepresentation } from '../../src/client/contract/health.js';
import { FaultStack, TERMINAL, type Answer } from './support/fault-stack.js';
import { contradictions } from './support/oracle.js';
import { callRecords, halfWritten } from './support/stopped-database.js';
import { TinyDisk, canMount } from './support/tiny-disk.js';

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

      // Not tried again by itself: the space is back and the process still says no, and sends nothing.
      disk.makeRoom();
      const late = await refund('late', { orderId: 'full', amountMinor: 3_333 });
      expect(late.status).toBe(503);
      await pause(1_000);
      const sent = Object.keys((await stats()).requestsByKey);
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
      expect([lateAgain.headers.get('idempotent-replayed'), lateAgain.body.status]).toEqual([null, 'completed']);
      const after = await stats();
      await stack.stop();
      const records = callRecords(stack.dataDir);
      expect(contradictions(records, after)).toEqual([]);
      expect(sent.filter((key) => !records.some(({ downstreamKey }) => downstreamKey === key))).toEqual([]);
      expect(halfWritten(stack.dataDir)).toEqual([]);
    },
  );
});

function bound(stack: FaultStack): Pick<FaultStack, 'order' | 'refund' | 'stats'> {
  return {
    order: (orderId) => stack.order(orderId),
    refund: (key, args, wait) => stack.refund(key, args, wait),
    stats: () => stack.stats(),
  };
}
