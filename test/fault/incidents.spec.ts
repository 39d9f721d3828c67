import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { PEOPLE } from '../../examples/refunds/stack.mjs';
import { FaultStack } from './support/fault-stack.js';
import { contradictions } from './support/oracle.js';
import { callRecords, eventCounts, halfWritten } from './support/stopped-database.js';

const SETTLES_WITHIN_MS = 20_000;

let stack: FaultStack;
afterEach(() => stack.end());

const preload = (name: string): { NODE_OPTIONS: string } => ({
  NODE_OPTIONS: `--import ${new URL(`support/${name}`, import.meta.url).href}`,
});

const logged = (output: string, message: string): Readonly<Record<string, unknown>>[] =>
  output
    .split('\n')
    .filter((line) => line.includes(`"msg":"${message}`))
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);

async function expectAgreement(): Promise<void> {
  expect(contradictions(callRecords(stack.dataDir), await stack.stats())).toEqual([]);
  expect(halfWritten(stack.dataDir)).toEqual([]);
}

describe('a library of a connector that rejects beside the call it has answered', () => {
  it('costs nobody anything: results stay, who waits goes on waiting, and the incident is logged by its place', async () => {
    stack = await FaultStack.start({ env: preload('stray-errors.mjs') });
    await stack.order('stray');
    const question = await stack.refundForApproval('question', 'stray');
    const waiting = stack.show(question.toolCallId, 20);
    const { pid, output } = stack.running;
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, n) => stack.refund(`stray-${n}`, { orderId: 'stray', amountMinor: n + 1 }, 10)),
    );
    expect(answers.map(({ body }) => body.status)).toEqual(answers.map(() => 'completed'));
    await until(() => logged(output(), 'a rejection reached nobody').length === 5);
    expect(logged(output(), 'a rejection reached nobody')[0]).toMatchObject({
      error: 'TypeError',
      at: expect.stringMatching(/support\/stray-errors\.mjs:\d+$/),
    });
    expect(output()).not.toContain('stray-canary');
    await stack.decide(PEOPLE.lena, question, 'allow');
    expect((await waiting).status).toBe('completed');
    expect(stack.running.pid).toBe(pid);
    process.kill(pid, 0);
    expect(await stack.stop()).toBe(0);
    await expectAgreement();
  });
});

describe('an exception that reaches nobody', () => {
  it('ends the process with a code of its own, and the next one knows all that was acknowledged and sends nothing twice', async () => {
    stack = await FaultStack.start({ env: { ...preload('stray-errors.mjs'), STRAY: 'exception' } });
    await stack.order('stray');
    const { output, exited } = stack.running;
    const keys = ['a', 'b', 'c'];
    const asked = keys.map((key, n) =>
      stack.refund(key, { orderId: 'stray', amountMinor: n + 1 }, 10).catch(() => null),
    );
    const answers = await Promise.all(asked);
    expect(await exited).toBe(70);
    expect(logged(output(), 'an exception reached nobody; the process ends')).toHaveLength(1);
    expect(output()).not.toContain('stray-canary');

    await stack.boot({ NODE_OPTIONS: '' });
    const again = await Promise.all(
      keys.map((key, n) => stack.refund(key, { orderId: 'stray', amountMinor: n + 1 }, 10)),
    );
    const views = await stack.settled(
      again.map(({ body }) => body.toolCallId as string),
      SETTLES_WITHIN_MS,
    );
    // A call that was recorded and not sent yet is proven to have had no effect.
    const isRight = ({ status, error }: (typeof views)[number]): boolean =>
      status === 'completed' || (status === 'failed' && error.effect === 'none');
    expect(views.filter((view) => !isRight(view))).toEqual([]);
    for (const [n, answer] of answers.entries()) {
      if (answer !== null) expect(again[n]?.body.toolCallId).toBe(answer.body.toolCallId);
    }
    await stack.stop();
    await expectAgreement();
  });
});

describe('a listener that throws for one call', () => {
  it('holds up no other, its failure is logged, and the sweep carries on with the call', async () => {
    stack = await FaultStack.start({ env: preload('throwing-listener.mjs') });
    await stack.order('listened');
    const questions = [];
    for (const n of [0, 1, 2]) questions.push(await stack.refundForApproval(`q-${n}`, 'listened', 8_000 + n));
    const { pid, output } = stack.running;
    for (const question of questions) await stack.decide(PEOPLE.lena, question, 'allow');
    const ids = questions.map(({ toolCallId }) => toolCallId);
    const views = await stack.settled(ids, SETTLES_WITHIN_MS);
    expect(views.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
    expect(logged(output(), 'listener executor of the feed has failed')).toHaveLength(1);
    process.kill(pid, 0);
    expect(await stack.stop()).toBe(0);
    const sent = eventCounts(stack.dataDir, 'tool.call.dispatching');
    expect(ids.map((id) => sent.get(id))).toEqual([1, 1, 1]);
    await expectAgreement();
  });
});

async function until(holds: () => boolean): Promise<void> {
  for (let waitedMs = 0; !holds(); waitedMs += 20) {
    if (waitedMs > SETTLES_WITHIN_MS) throw new Error('it did not happen in time');
    await pause(20);
  }
}
