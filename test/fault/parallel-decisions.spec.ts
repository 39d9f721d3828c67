import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { PEOPLE } from '../../examples/refunds/stack.mjs';
import { FaultStack, NEEDS_LEAD, type Answer } from './support/fault-stack.js';
import { contradictions } from './support/oracle.js';
import { callRecords, eventCounts, withDatabase } from './support/stopped-database.js';

const LEADS = Array.from({ length: 10 }, (_, n) => ({
  sub: `lead-${n}`,
  roles: ['approver'],
  groups: ['support-lead'],
}));

let stack: FaultStack;

const countBy = (answers: readonly Answer[]): Readonly<Record<number, number>> => {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

describe('many answers to one question', () => {
  beforeAll(async () => {
    stack = await FaultStack.start();
    await stack.order('crowd');
  });
  afterAll(() => stack.end());
  afterEach(async () => {
    // The record is only looked at while nobody writes it.
    if (stack.proxy === null) await stack.boot();
  });

  it('starts one execution for a thousand parallel consents of ten people', async () => {
    const waiting = await stack.refundForApproval('crowd', 'crowd');
    const answers = await Promise.all(
      Array.from({ length: 1_000 }, (_, n) =>
        stack.decide(LEADS[n % LEADS.length] as (typeof LEADS)[number], waiting, 'allow'),
      ),
    );
    const counts = countBy(answers);
    expect(Object.keys(counts).filter((status) => status !== '200' && status !== '409')).toEqual([]);
    expect(counts[200]).toBeGreaterThanOrEqual(1);
    const same = answers.filter(({ status }) => status === 200).map(({ body }) => JSON.stringify(body.decidedBy));
    expect(new Set(same).size).toBe(1);
    expect((await stack.show(waiting.toolCallId, 20)).status).toBe('completed');

    const stats = await stack.stats();
    await stack.stop();
    expect(Object.values(stats.requestsByKey)).toEqual([1]);
    expect(contradictions(callRecords(stack.dataDir), stats)).toEqual([]);
    expect(eventCounts(stack.dataDir, 'approval.consumed').get(waiting.approvalId)).toBe(1);
    expect(eventCounts(stack.dataDir, 'approval.granted').get(waiting.approvalId)).toBe(1);
    expect(eventCounts(stack.dataDir, 'tool.call.dispatching').get(waiting.toolCallId)).toBe(1);
  });

  it('lets one of two people win who allow and deny at the same instant, a hundred times', async () => {
    const rounds = await Promise.all(
      Array.from({ length: 100 }, (_, n) => stack.refundForApproval(`duel-${n}`, 'crowd', NEEDS_LEAD + 1 + n)),
    );
    const executionsBefore = (await stack.stats()).executions;
    let allowed = 0;
    for (const [n, round] of rounds.entries()) {
      const order = n % 2 === 0 ? (['allow', 'deny'] as const) : (['deny', 'allow'] as const);
      const answers = await Promise.all([
        stack.decide(PEOPLE.lena, round, order[0]),
        stack.decide(PEOPLE.omar, round, order[1]),
      ]);
      expect(countBy(answers)).toEqual({ 200: 1, 409: 1 });
      const winner = order[answers.findIndex(({ status }) => status === 200)];
      const call = await stack.show(round.toolCallId, 10);
      const { body } = await stack.call(PEOPLE.lena, 'GET', `/v1/approvals/${round.approvalId}`);
      if (winner === 'allow') allowed += 1;
      expect([body.status, call.status]).toEqual(winner === 'allow' ? ['consumed', 'completed'] : ['denied', 'denied']);
      expect(body.decidedBy).toEqual([answers[0].status === 200 ? 'lena' : 'omar']);
    }
    const stats = await stack.stats();
    expect(stats.executions - executionsBefore).toBe(allowed);
    await stack.stop();
    expect(contradictions(callRecords(stack.dataDir), stats)).toEqual([]);
    const [granted, denied] = ['approval.granted', 'approval.denied'].map((type) => eventCounts(stack.dataDir, type));
    for (const { approvalId } of rounds) {
      expect([approvalId, (granted?.get(approvalId) ?? 0) + (denied?.get(approvalId) ?? 0)]).toEqual([approvalId, 1]);
    }
    // Both attempts of a round are on record: the one that counted and the one that was refused.
    expect(commandsAbout('rejected')).toBeGreaterThanOrEqual(100);
  });

  it('makes one call of two hundred parallel proposals with one key', async () => {
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => stack.refund('two-hundred', { orderId: 'crowd', amountMinor: 4_321 }, 10)),
    );
    expect(countBy(answers)).toEqual({ 200: 200 });
    expect(new Set(answers.map(({ body }) => body.toolCallId)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') !== 'true')).toHaveLength(1);
    const stats = await stack.stats();
    await stack.stop();
    expect(contradictions(callRecords(stack.dataDir), stats)).toEqual([]);
    expect(eventCounts(stack.dataDir, 'tool.call.completed').get(answers[0]?.body.toolCallId)).toBe(1);
  });

  it('makes one call of twenty parallel proposals with one key while the tool is slow', async () => {
    const before = await stack.stats();
    await stack.order('slow');
    await stack.fault({ orderId: 'slow', delayBeforeMs: 1_500 });
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => stack.refund('slow', { orderId: 'slow', amountMinor: 77 })),
    );
    expect(countBy(answers)).toEqual({ 202: 20 });
    expect(new Set(answers.map(({ body }) => body.toolCallId)).size).toBe(1);
    expect((await stack.show(answers[0]?.body.toolCallId, 15)).status).toBe('completed');
    expect((await stack.stats()).executions - before.executions).toBe(1);
  });
});

/** Control commands that ended so. */
function commandsAbout(status: string): number {
  const sql = 'SELECT COUNT(*) FROM control_commands WHERE status = ?';
  return withDatabase(stack.dataDir, (database) => database.prepare(sql).pluck().get(status) as number);
}
