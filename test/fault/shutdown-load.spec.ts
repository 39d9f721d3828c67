import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { PEOPLE } from '../../examples/refunds/stack.mjs';
import { OpenStream } from '../support/event-stream.js';
import { FaultStack, TERMINAL } from './support/fault-stack.js';
import { KeepAliveLoad } from './support/keep-alive-load.js';
import { contradictions } from './support/oracle.js';
import { callRecords, halfWritten } from './support/stopped-database.js';

const SETTLES_WITHIN_MS = 20_000;

let stack: FaultStack;
afterEach(() => stack.end());

describe('SIGTERM with 64 connections busy', () => {
  it('resets nobody, settles or records everything on the wire, and ends with 0', async () => {
    stack = await FaultStack.start({ timeout: '10s', env: { COUNTERSIGN_SHUTDOWN_GRACE_MS: '8000' } });
    await Promise.all(['fast', 'slow'].map((order) => stack.order(order)));
    await stack.fault({ orderId: 'slow', delayAfterMs: 900 });
    const questions = await Promise.all(
      Array.from({ length: 6 }, (_, n) => stack.refundForApproval(`question-${n}`, 'fast', 8_000 + n)),
    );
    const load = new KeepAliveLoad(stack.running.url, await stack.token(PEOPLE.harness));
    let n = 0;
    const refund = (orderId: string, wait: number) => () => {
      n += 1;
      return {
        method: 'POST',
        path: '/v1/tool-calls',
        body: { capability: 'refund.create', arguments: { orderId, amountMinor: n } },
        headers: { 'idempotency-key': `load-${n}`, prefer: `wait=${wait}` },
      };
    };
    const client = (i: number): void => {
      if (i % 4 === 0) load.add(refund('slow', 20));
      else if (i % 4 === 1) load.add(refund('fast', 0), () => Math.random() * 400);
      else if (i % 4 === 2) load.add(refund('fast', 5));
      else load.add(() => ({ path: `/v1/tool-calls/${questions[i % 6]?.toolCallId}?wait=${i % 8 === 3 ? 20 : 0}` }));
    };
    for (let i = 0; i < 56; i += 1) client(i);
    const token = await stack.token(PEOPLE.auditor);
    const streams = await Promise.all(Array.from({ length: 8 }, () => OpenStream.open(stack.running.url, token)));
    while (load.answers.length < 200) await pause(10);

    const { output } = stack.running;
    load.note();
    const code = await stack.stop();
    await load.over();
    await Promise.all(streams.map(({ ended }) => ended));
    expect(load.losses.filter(({ code }) => code !== 'ECONNREFUSED')).toEqual([]);
    expect(code).toBe(0);
    expect(output()).not.toMatch(/"level":[56]0/);
    expect(load.refusals.filter(({ status, body }) => status !== 503 || body.code !== 'shutting_down')).toEqual([]);
    expect(load.refusals.filter(({ headers }) => headers.connection !== 'close')).toEqual([]);
    expect(streams.map(({ comments }) => comments.at(-1))).toEqual(
      streams.map(() => 'the stream is over; go on with Last-Event-ID'),
    );

    const asked = new Set(questions.map(({ toolCallId }) => toolCallId));
    const left = callRecords(stack.dataDir).filter(({ toolCallId }) => !asked.has(toolCallId));
    expect(left.filter(({ status }) => ![...TERMINAL, 'authorized'].includes(status))).toEqual([]);
    expect(halfWritten(stack.dataDir)).toEqual([]);
    const recorded = new Map(callRecords(stack.dataDir).map(({ toolCallId, status }) => [toolCallId, status]));
    const acknowledged = load.answers.map(({ body }) => body.toolCallId as string);
    expect(acknowledged.filter((id) => !recorded.has(id))).toEqual([]);
    await stack.boot();
    const unsent = left.filter(({ status }) => status === 'authorized').map(({ toolCallId }) => toolCallId);
    const views = await stack.settled(unsent, SETTLES_WITHIN_MS);
    expect(views.filter(({ status }) => status !== 'completed')).toEqual([]);
    expect((await stack.show(questions[0]?.toolCallId as string)).waitingFor).toBe('approval');
    await stack.stop();
    expect(contradictions(callRecords(stack.dataDir), await stack.stats())).toEqual([]);
  });
});
