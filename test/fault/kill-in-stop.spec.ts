import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import Database from 'better-sqlite3';
import { join } from 'node:path';
import { PEOPLE } from '../../examples/refunds/stack.mjs';
import { FaultStack, TERMINAL } from './support/fault-stack.js';
import { contradictions } from './support/oracle.js';
import { callRecords, halfWritten } from './support/stopped-database.js';

const SETTLES_WITHIN_MS = 40_000;

let stack: FaultStack;

afterEach(() => stack.end());

const stop = (runId: string) => stack.call(PEOPLE.harness, 'POST', '/v1/control', { type: 'stop', target: { runId } });

/** Event types of a run, in commit order, read from the files of a proxy that has ended. */
function typesOf(runId: string): string[] {
  const database = new Database(join(stack.dataDir, 'countersign.sqlite'), { readonly: true });
  try {
    const rows = database
      .prepare(
        `SELECT e.event_type AS type FROM events e JOIN positions p ON p.event_id = e.event_id
         WHERE e.run_id = ? ORDER BY p.idx`,
      )
      .all(runId) as { type: string }[];
    return rows.map(({ type }) => type);
  } finally {
    database.close();
  }
}

async function stopped(runId: string): Promise<string> {
  const until = performance.now() + SETTLES_WITHIN_MS;
  for (;;) {
    const run = (await stack.call(PEOPLE.harness, 'GET', `/v1/runs/${runId}`)).body;
    if (run.status === 'stopped' || performance.now() > until) return run.status;
    await pause(100);
  }
}

/** Calls on the wire and questions to people, all of one run. */
async function busyRun(round: number): Promise<{ runId: string; sent: string[]; asked: string[] }> {
  const orderId = await stack.order(`stop-${round}`);
  await stack.fault({ orderId, delayAfterMs: 1_500 });
  const [sent, asked] = await Promise.all([
    Promise.all([1, 2, 3].map((n) => stack.refund(`sent-${round}-${n}`, { orderId, amountMinor: 500 + n }))),
    Promise.all([1, 2, 3].map((n) => stack.refundForApproval(`asked-${round}-${n}`, orderId, 7_500 + n))),
  ]);
  const ids = sent.map(({ body }) => body.toolCallId as string);
  return { runId: sent[0]?.body.runId, sent: ids, asked: asked.map(({ toolCallId }) => toolCallId) };
}

describe('kill -9 in the middle of a stop', () => {
  /** Milliseconds after the request was issued: before its unit, in its legs, after them. */
  it('is seen through after the restart: nothing starts, what was sent is settled by evidence', async () => {
    stack = await FaultStack.start();
    const runs: Awaited<ReturnType<typeof busyRun>>[] = [];
    for (const [round, delayMs] of [0, 4, 9, 25].entries()) {
      const run = await busyRun(round);
      runs.push(run);
      const asking = stop(run.runId).then(
        ({ status }) => status === 202,
        () => false,
      );
      await pause(delayMs);
      await stack.kill();
      const acknowledged = await asking;
      await stack.boot();
      const now = (await stack.call(PEOPLE.harness, 'GET', `/v1/runs/${run.runId}`)).body.status;
      if (acknowledged) expect(['stopping', 'stopped']).toContain(now);
      // What was not acknowledged may still have become durable; asking again is refused then, and harmless.
      if (!['stopping', 'stopped'].includes(now)) expect((await stop(run.runId)).status).toBe(202);
      expect(await stopped(run.runId)).toBe('stopped');
      for (const id of run.asked) expect((await stack.show(id)).status).toBe('not_executed');
    }
    const views = await stack.settled(
      runs.flatMap(({ sent }) => sent),
      SETTLES_WITHIN_MS,
    );
    expect(views.filter(({ status }) => !TERMINAL.includes(status))).toEqual([]);
    const stats = await stack.stats();
    await stack.stop();
    expect(contradictions(callRecords(stack.dataDir), stats)).toEqual([]);
    expect(halfWritten(stack.dataDir)).toEqual([]);
    for (const { runId } of runs) {
      const types = typesOf(runId);
      expect(types.filter((type) => type === 'run.stopped' || type === 'stop.requested')).toEqual([
        'stop.requested',
        'run.stopped',
      ]);
      expect(types.slice(types.indexOf('stop.requested'))).not.toContain('tool.call.dispatching');
    }
  });
});
