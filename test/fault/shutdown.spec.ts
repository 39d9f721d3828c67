import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { PEOPLE } from '../../examples/refunds/stack.mjs';
import { FaultStack, TERMINAL, type Answer } from './support/fault-stack.js';
import { contradictions } from './support/oracle.js';
import { callRecords, eventCounts, halfWritten } from './support/stopped-database.js';

const SETTLES_WITHIN_MS = 30_000;

let stack: FaultStack;
afterEach(() => stack.end());

describe('SIGTERM with calls on the wire', () => {
  it('answers everybody who waits at once, lets the tool end within the grace, records that, and ends with 0', async () => {
    stack = await FaultStack.start({ timeout: '30s', env: { COUNTERSIGN_SHUTDOWN_GRACE_MS: '10000' } });
    await stack.order('wire');
    await stack.fault({ orderId: 'wire', delayAfterMs: 2_500 });
    const proposers = Array.from({ length: 8 }, (_, n) =>
      stack.refund(`wire-${n}`, { orderId: 'wire', amountMinor: n + 1 }, 25),
    );
    await received(8);
    const listed = await stack.call(PEOPLE.operator, 'GET', '/v1/tool-calls');
    const ids: string[] = listed.body.items.map(({ toolCallId }: { toolCallId: string }) => toolCallId);
    const watchers = ids.map((id) => stack.call(PEOPLE.harness, 'GET', `/v1/tool-calls/${id}?wait=25`));
    await pause(200);
    expect((await stack.stats()).executions).toBe(8);

    const { output } = stack.running;
    const begun = performance.now();
    const timed = Promise.all([...proposers, ...watchers]).then((all) => ({ all, afterMs: performance.now() - begun }));
    const code = await stack.stop();
    const { all, afterMs } = await timed;
    expect(code).toBe(0);
    expect(afterMs).toBeLessThan(2_000);
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 202));
    expect(all.filter(({ body }) => !['dispatching', 'dispatched'].includes(body.status))).toEqual([]);
    expect(new Set(all.map(({ body }) => body.toolCallId))).toEqual(new Set(ids));
    expect(callRecords(stack.dataDir).map(({ status }) => status)).toEqual(ids.map(() => 'completed'));
    expect(eventCounts(stack.dataDir, 'tool.call.result_unknown').size).toBe(0);
    expect(errorsIn(output())).toEqual([]);
    await expectAgreement();
  });

  it('records what the tool does not answer within the grace as unknown before it ends, and the next process settles it', async () => {
    stack = await FaultStack.start({ timeout: '6s', env: { COUNTERSIGN_SHUTDOWN_GRACE_MS: '1000' } });
    await stack.order('late');
    await stack.fault({ orderId: 'late', delayAfterMs: 60_000 });
    const asked = [1, 2, 3, 4].map((n) => stack.refund(`late-${n}`, { orderId: 'late', amountMinor: n }, 25));
    await received(4);
    const { output } = stack.running;
    const begun = performance.now();
    expect(await stack.stop()).toBe(0);
    expect(performance.now() - begun).toBeLessThan(4_000);
    const ids = (await Promise.all(asked)).map(({ body }) => body.toolCallId as string);
    expect(callRecords(stack.dataDir).map(({ status }) => status)).toEqual(ids.map(() => 'result_unknown'));
    expect(errorsIn(output())).toEqual([]);

    await stack.boot();
    const views = await stack.settled(ids, SETTLES_WITHIN_MS);
    expect(views.map(({ status }) => status)).toEqual(ids.map(() => 'completed'));
    await stack.stop();
    await expectAgreement();
    const unknown = eventCounts(stack.dataDir, 'tool.call.result_unknown');
    expect(ids.map((id) => unknown.get(id))).toEqual(ids.map(() => 1));
  });
});

describe('a second signal', () => {
  it('ends the grace: what is on the wire is recorded as unknown at once, and the process ends with 0', async () => {
    stack = await FaultStack.start({ timeout: '60s', env: { COUNTERSIGN_SHUTDOWN_GRACE_MS: '60000' } });
    await stack.order('hurry');
    await stack.fault({ orderId: 'hurry', delayAfterMs: 90_000 });
    const asked = [1, 2].map((n) => stack.refund(`hurry-${n}`, { orderId: 'hurry', amountMinor: n }, 25));
    await received(2);
    const ending = stack.running.kill('SIGTERM');
    await Promise.all(asked);
    await pause(1_100);
    const begun = performance.now();
    expect(await stack.running.kill('SIGINT')).toBe(0);
    expect(await ending).toBe(0);
    expect(performance.now() - begun).toBeLessThan(15_000);
    expect(callRecords(stack.dataDir).map(({ status }) => status)).toEqual(['result_unknown', 'result_unknown']);
    await expectAgreement();
  });
});

describe('SIGTERM under a load of proposals and votes', () => {
  it('ends with 0, and after the restart everything acknowledged is there and runs once', async () => {
    stack = await FaultStack.start({ env: { COUNTERSIGN_EXECUTION__MAX_IN_FLIGHT: '4' } });
    await stack.order('load');
    const approvals = await Promise.all(
      Array.from({ length: 30 }, (_, n) => stack.refundForApproval(`vote-${n}`, 'load', 8_000 + n)),
    );
    const acknowledged = new Map<number, string>();
    const [voted, refusals, losses]: [number[], Answer[], string[]] = [[], [], []];
    /** Null when nothing more is to be asked. */
    const attempt = async (work: Promise<Answer>): Promise<Answer | null> => {
      const answer = await work.catch((error: Error) => void losses.push(causeOf(error)));
      if (answer !== undefined && answer.status >= 400) refusals.push(answer);
      return answer === undefined || answer.status >= 400 ? null : answer;
    };
    let next = 0;
    const propose = async (): Promise<void> => {
      for (let n = (next += 1); ; n = next += 1) {
        const answer = await attempt(
          stack.refund(`load-${n}`, { orderId: 'load', amountMinor: n }, n % 4 === 0 ? 20 : 0),
        );
        if (answer === null) return;
        acknowledged.set(n, answer.body.toolCallId);
      }
    };
    const vote = async (first: number): Promise<void> => {
      for (let n = first; n < approvals.length; n += 2) {
        if ((await attempt(stack.decide(PEOPLE.lena, approvals[n] as (typeof approvals)[number], 'allow'))) === null)
          return;
        voted.push(n);
      }
    };
    const load = Array.from({ length: 16 }, propose);
    while (acknowledged.size < 60) await pause(5);
    load.push(vote(0), vote(1));
    while (voted.length < 4) await pause(1);
    const { output } = stack.running;
    const code = await stack.running.kill('SIGTERM');
    await Promise.all(load);
    expect(code).toBe(0);
    expect(errorsIn(output())).toEqual([]);
    expect(refusals.filter(({ status }) => status !== 503)).toEqual([]);
    // Who asks a server that is gone is refused; a question that was on its way must not be cut off.
    expect(losses.filter((code) => code !== 'ECONNREFUSED')).toEqual([]);

    await stack.boot();
    const ids: string[] = [];
    const forgotten: number[] = [];
    for (let n = 1; n <= next; n += 1) {
      const again = await stack.refund(`load-${n}`, { orderId: 'load', amountMinor: n });
      if (acknowledged.has(n) && again.body.toolCallId !== acknowledged.get(n)) forgotten.push(n);
      ids.push(again.body.toolCallId);
    }
    expect(forgotten).toEqual([]);
    const consented = voted.map((n) => approvals[n]?.toolCallId as string);
    const views = await stack.settled([...ids, ...consented], SETTLES_WITHIN_MS);
    expect(views.filter(({ status }) => !TERMINAL.includes(status))).toEqual([]);
    expect(views.slice(ids.length).map(({ status }) => status)).toEqual(consented.map(() => 'completed'));
    await stack.stop();
    await expectAgreement();
  });
});

async function received(count: number): Promise<void> {
  while (Object.keys((await stack.stats()).requestsByKey).length < count) await pause(20);
}

/** Of a proxy that has stopped. */
async function expectAgreement(): Promise<void> {
  expect(contradictions(callRecords(stack.dataDir), await stack.stats())).toEqual([]);
  expect(halfWritten(stack.dataDir)).toEqual([]);
}

const causeOf = (error: Error): string => {
  const { cause } = error as { cause?: { code?: string; message?: string } };
  return cause?.code ?? cause?.message ?? error.message;
};

/** Lines of the log that report a failure. */
function errorsIn(output: string): string[] {
  return output.split('\n').filter((line) => /"level":(?:"(?:error|fatal)"|[56]0)|^\s*(?:\w*Error\b|at )/.test(line));
}
