import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { FaultStack, TERMINAL, type Answer } from './support/fault-stack.js';
import { contradictions } from './support/oracle.js';
import { callRecords, withDatabase } from './support/stopped-database.js';

/** The example's attempt timeout and more: whatever was not sent by then must never be sent. */
const FROZEN_MS = 3_500;

interface Deadline {
  readonly key: string;
  readonly deadline: string;
}

describe('a process that is frozen in the middle of its work', () => {
  let stack: FaultStack;
  afterEach(() => stack.end());

  it('sends nothing after the deadline of an attempt, and its record agrees with what the tool saw', async () => {
    stack = await FaultStack.start();
    await stack.order('frozen');
    const ids: string[] = [];
    const refused: { key: string; answer: Answer }[] = [];
    for (let round = 0; round < 4; round += 1) {
      // Some calls are proposed, some durable and not sent, some on the wire when the process freezes.
      const keys = Array.from({ length: 20 }, (_, n) => `frozen-${round}-${n}`);
      const load = keys.map((key) => stack.refund(key, { orderId: 'frozen', amountMinor: amountOf(key) }));
      await pause(10 + round * 5);
      process.kill(stack.running.pid, 'SIGSTOP');
      await pause(round === 0 ? FROZEN_MS : 2_200);
      process.kill(stack.running.pid, 'SIGCONT');
      for (const [n, answer] of (await Promise.all(load)).entries()) {
        if (answer.status === 202) ids.push(answer.body.toolCallId as string);
        else refused.push({ key: keys[n] as string, answer });
      }
    }
    // Whose policy was being asked when time stood still is told that nothing was recorded, and that is true.
    expect(refused.filter(({ answer }) => answer.status !== 503)).toEqual([]);
    expect(ids.length).toBeGreaterThan(0);
    for (const { key, answer } of refused) {
      // The engine that did not answer in time is being replaced: as the refusal says, the client tries again.
      const until = performance.now() + 20_000;
      let again = await stack.refund(key, { orderId: 'frozen', amountMinor: amountOf(key) });
      while (again.status === 503 && performance.now() < until) {
        await pause(250);
        again = await stack.refund(key, { orderId: 'frozen', amountMinor: amountOf(key) });
      }
      expect([key, answer.body.code, again.status, again.headers.get('idempotent-replayed')]).toEqual([
        key,
        'engine_error',
        202,
        null,
      ]);
      ids.push(again.body.toolCallId as string);
    }
    const views = await stack.settled(ids, 30_000);
    expect(views.filter(({ status }) => !TERMINAL.includes(status))).toEqual([]);
    const [stats, received] = [await stack.stats(), await stack.received()];
    await stack.stop();
    expect(contradictions(callRecords(stack.dataDir), stats)).toEqual([]);
    const deadlines = new Map(deadlinesOf(stack.dataDir).map(({ key, deadline }) => [key, deadline]));
    const late = received.filter(
      ({ receivedAt, headers }) => receivedAt > (deadlines.get(headers['idempotency-key'] ?? '') ?? ''),
    );
    expect(late).toEqual([]);
    expect(received.length).toBeGreaterThan(0);
  });
});

/** 1 to 80, another for each key. */
function amountOf(key: string): number {
  const [, round, n] = key.split('-').map(Number) as [number, number, number];
  return round * 20 + n + 1;
}

function deadlinesOf(dataDir: string): readonly Deadline[] {
  const sql = 'SELECT c.downstream_key AS key, a.deadline FROM attempts a JOIN tool_calls c USING (tool_call_id)';
  return withDatabase(dataDir, (database) => database.prepare(sql).all() as Deadline[]);
}
