import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PEOPLE } from '../../examples/refunds/stack.mjs';
import { FaultStack, TERMINAL } from './support/fault-stack.js';
import { contradictions } from './support/oracle.js';
import { callRecords, eventCounts, halfWritten } from './support/stopped-database.js';

/** The example's attempt deadline, quiesce, visibility delay of the provider, a few looks, and a slow machine. */
const SETTLES_WITHIN_MS = 30_000;

/** Nothing is settled by a look-up until the rule is removed. */
const LOOKUPS_FAIL = { probeStatus: 503 };

let stack: FaultStack;

/** One installation for all of it: every test leaves a proxy that runs and nothing that is open. */
beforeAll(async () => {
  stack = await FaultStack.start();
});
afterAll(() => stack.end());

/** Holds the record against what the provider did. */
async function expectAgreement(): Promise<void> {
  const stats = await stack.stats();
  expect(contradictions(callRecords(stack.dataDir), stats)).toEqual([]);
  expect(halfWritten(stack.dataDir)).toEqual([]);
}

describe('kill -9 with calls in flight', () => {
  /** Order and what the provider does with its refunds. The last two have ended as unknown before the kill. */
  const BEHAVIOURS: Readonly<Record<string, object>> = {
    'before-effect': { delayBeforeMs: 1_500 },
    'after-effect': { delayAfterMs: 1_500 },
    silent: { hangForever: 'beforeEffect' },
    'reset-before': { resetBeforeEffect: true },
    'reset-after': { resetAfterEffect: true },
  };

  it('sends nothing twice, forgets nothing and settles all twenty calls after the restart', async () => {
    for (const [orderId, switches] of Object.entries(BEHAVIOURS)) {
      await stack.order(orderId);
      await stack.fault({ orderId, ...switches });
    }
    const asked = Object.keys(BEHAVIOURS).flatMap((orderId) =>
      [1, 2, 3, 4].map((n) => ({ orderId, amountMinor: 1_000 + n })),
    );
    const before = await keysReceived();
    const answers = await Promise.all(asked.map((args, n) => stack.refund(`in-flight-${n}`, args)));
    const ids = answers.map(({ body }) => body.toolCallId);
    while ((await keysReceived()) < before + 20) await pause(20);
    await stack.kill();
    const sentBefore = (await stack.stats()).requestsByKey;
    await stack.fault(LOOKUPS_FAIL);

    await stack.boot();
    const recovered = await Promise.all(ids.map((id) => stack.show(id)));
    expect(recovered.map(({ toolCallId }) => toolCallId)).toEqual(ids);
    expect(recovered.filter(({ status }) => !['result_unknown', 'reconciling'].includes(status))).toEqual([]);
    expect(recovered.filter(({ mayHaveHappened }) => mayHaveHappened !== true)).toEqual([]);
    const listed = await stack.call(PEOPLE.operator, 'GET', '/v1/tool-calls?status=needs-reconciliation');
    const unsettled: string[] = listed.body.items.map(({ toolCallId }: { toolCallId: string }) => toolCallId);
    expect(unsettled).toHaveLength(20);
    expect(new Set(unsettled)).toEqual(new Set(ids));

    await stack.clearFaults();
    const views = await stack.settled(ids, SETTLES_WITHIN_MS);
    expect(views.filter(({ status }) => !TERMINAL.includes(status))).toEqual([]);
    const repeated = await Promise.all(asked.map((args, n) => stack.refund(`in-flight-${n}`, args)));
    expect(repeated.map(({ body }) => body.toolCallId)).toEqual(ids);
    expect((await stack.stats()).requestsByKey).toEqual(sentBefore);
    await expectAgreement();
    const unknown = eventCounts(stack.dataDir, 'tool.call.result_unknown');
    expect(ids.map((id) => unknown.get(id))).toEqual(ids.map(() => 1));
  });

  it('refuses a retry of a call whose effect was cut off from its record', async () => {
    await stack.order('cut-off');
    await stack.fault({ orderId: 'cut-off', delayAfterMs: 60_000 });
    const before = await keysReceived();
    const { body } = await stack.refund('cut-off', { orderId: 'cut-off', amountMinor: 500 });
    while ((await keysReceived()) === before) await pause(20);
    await stack.kill();
    await stack.fault(LOOKUPS_FAIL);

    await stack.boot();
    const view = await stack.show(body.toolCallId);
    expect(view).toMatchObject({ mayHaveHappened: true, retryAllowed: false });
    const retry = await stack.control({ type: 'retry', target: { toolCallId: body.toolCallId } });
    expect(retry).toMatchObject({ status: 409, body: { code: 'retry_forbidden_result_unknown' } });
    await stack.clearFaults();
    const [settled] = await stack.settled([body.toolCallId], SETTLES_WITHIN_MS);
    expect(settled.status).toBe('completed');
    await expectAgreement();
  });

  async function keysReceived(): Promise<number> {
    return Object.keys((await stack.stats()).requestsByKey).length;
  }
});

describe('kill -9 around an approval', () => {
  it('keeps a waiting approval as it was, and one consent after the restart runs the call once', async () => {
    await stack.order('waits');
    const waiting = await stack.refundForApproval('waits', 'waits');
    const before = await stack.call(PEOPLE.lena, 'GET', `/v1/approvals/${waiting.approvalId}`);
    await stack.kill();

    await stack.boot();
    const after = await stack.call(PEOPLE.lena, 'GET', `/v1/approvals/${waiting.approvalId}`);
    expect(after.body).toEqual(before.body);
    expect(after.body.status).toBe('pending');
    expect((await stack.decide(PEOPLE.lena, waiting, 'allow')).status).toBe(200);
    expect((await stack.show(waiting.toolCallId, 10)).status).toBe('completed');
    await expectAgreement();
  });
});

describe('kill -9 under a load of proposals', () => {
  it('still has every acknowledged call under its key, and runs no key twice', async () => {
    await stack.order('load');
    const acknowledged = new Map<number, string>();
    let next = 0;
    const propose = async (): Promise<void> => {
      for (;;) {
        const n = (next += 1);
        const answer = await stack.refund(`load-${n}`, { orderId: 'load', amountMinor: n }).catch(() => null);
        if (answer === null) return;
        if (answer.status === 200 || answer.status === 202) acknowledged.set(n, answer.body.toolCallId);
      }
    };
    const load = Array.from({ length: 16 }, propose);
    while (acknowledged.size < 150) await pause(5);
    await stack.running.kill('SIGKILL');
    await Promise.all(load);

    await stack.boot();
    const ids: string[] = [];
    const forgotten: number[] = [];
    for (let n = 1; n <= next; n += 1) {
      const again = await stack.refund(`load-${n}`, { orderId: 'load', amountMinor: n });
      const isSame =
        again.body.toolCallId === acknowledged.get(n) && again.headers.get('idempotent-replayed') === 'true';
      if (acknowledged.has(n) && !isSame) forgotten.push(n);
      ids.push(again.body.toolCallId);
    }
    expect(forgotten).toEqual([]);
    const views = await stack.settled(ids, SETTLES_WITHIN_MS);
    expect(views.filter(({ status }) => !TERMINAL.includes(status))).toEqual([]);
    await expectAgreement();
  });
});

describe('calls that were authorized and not sent', () => {
  const ONE_AT_A_TIME = { COUNTERSIGN_EXECUTION__MAX_IN_FLIGHT: '1' };

  /** One call hangs at the tool, three are authorized behind it; then the process dies. */
  async function killWithWaiting(name: string): Promise<{ hanging: string; waiting: string[]; behind: string }> {
    const hangs = await stack.order(`hangs-${name}`);
    const orderId = await stack.order(`behind-${name}`);
    await stack.fault({ orderId: hangs, hangForever: 'beforeEffect' });
    const hanging = await stack.refund(hangs, { orderId: hangs, amountMinor: 100 });
    const behind = await Promise.all(
      [1, 2, 3].map((n) => stack.refund(`${orderId}-${n}`, { orderId, amountMinor: n })),
    );
    expect(behind.map(({ body }) => body.status)).toEqual(['authorized', 'authorized', 'authorized']);
    await stack.kill();
    const waiting = behind.map(({ body }) => body.toolCallId as string);
    return { hanging: hanging.body.toolCallId, waiting, behind: orderId };
  }

  it('go on by themselves after a restart', async () => {
    await stack.kill();
    await stack.boot(ONE_AT_A_TIME);
    const { hanging, waiting } = await killWithWaiting('automatic');
    await stack.boot(ONE_AT_A_TIME);
    const views = await stack.settled([hanging, ...waiting], SETTLES_WITHIN_MS);
    expect(views.slice(1).map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
    expect(TERMINAL).toContain(views[0].status);
    await expectAgreement();
  });

  it('wait for an operator where the settings say so, and go on at the word', async () => {
    const onControl = { ...ONE_AT_A_TIME, COUNTERSIGN_EXECUTION__RESUME_AUTHORIZED: 'on_control' };
    const { hanging, waiting, behind } = await killWithWaiting('on-control');
    const executed = async (): Promise<number> => Object.keys((await stack.stats()).executionsByKey).length;
    const before = await executed();
    await stack.boot(onControl);
    await pause(2_000);
    const held = await Promise.all(waiting.map((id) => stack.show(id)));
    expect(held.map(({ status }) => status)).toEqual(['authorized', 'authorized', 'authorized']);
    const fresh = await stack.refund('fresh', { orderId: behind, amountMinor: 50 }, 10);
    expect(fresh.body.status).toBe('completed');
    expect(await executed()).toBe(before + 1);

    expect((await stack.control({ type: 'resume_authorized' })).status).toBe(202);
    const views = await stack.settled(waiting, SETTLES_WITHIN_MS);
    expect(views.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
    const [last] = await stack.settled([hanging], SETTLES_WITHIN_MS);
    expect(TERMINAL).toContain(last.status);
    await expectAgreement();
  });
});
