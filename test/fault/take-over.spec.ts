import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FaultStack, TERMINAL, type Answer } from './support/fault-stack.js';
import { contradictions } from './support/oracle.js';
import { callRecords, eventCounts, withDatabase } from './support/stopped-database.js';

/** The provider answers after this, so that the frozen process has answers to read when it wakes. */
const ANSWER_AFTER_MS = 1_000;

/**
 * One story, told once because processes are dear: a process hangs with calls on the wire, calls that wait for a person and
 * calls that were never admitted; another takes over; the first wakes up.
 */
describe('a hung process that another one takes over from', () => {
  let stack: FaultStack;
  let onTheWire: string[];
  let waiting: { toolCallId: string; approvalId: string; digest: string };
  let refusal: string;
  let afterWaking: { code: number | null; output: string; answers: readonly (Answer | Error)[] };

  beforeAll(async () => {
    stack = await FaultStack.start({ timeout: '8s' });
    await stack.order('hung');
    waiting = await stack.refundForApproval('waits', 'hung');
    await stack.fault({ orderId: 'hung', delayAfterMs: ANSWER_AFTER_MS });
    const proposed = await Promise.all(
      [1, 2, 3].map((n) => stack.refund(`wire-${n}`, { orderId: 'hung', amountMinor: n })),
    );
    onTheWire = proposed.map(({ body }) => body.toolCallId as string);
    while (Object.keys((await stack.stats()).requestsByKey).length < 3) await pause(10);

    const hung = stack.running;
    process.kill(hung.pid, 'SIGSTOP');
    refusal = await stack.launch().then(
      () => 'it runs',
      (error: Error) => error.message,
    );
    const next = await stack.launch({}, null, ['--take-over']);
    // These reach the socket of the process that sleeps, and are read when it wakes.
    const late = [11, 12, 13, 14, 15].map((n) => stack.refund(`late-${n}`, { orderId: 'hung', amountMinor: n }));
    const lateVote = stack.decide({ sub: 'lena', roles: ['approver'], groups: ['support-lead'] }, waiting, 'allow');
    await pause(100);
    process.kill(hung.pid, 'SIGCONT');
    const answers = await Promise.all([...late, lateVote].map((answer) => answer.catch((error: Error) => error)));
    afterWaking = { code: await hung.exited, output: hung.output(), answers };
    stack.proxy = next;
  }, 60_000);
  afterAll(() => stack.end());

  it('is not taken over from by a plain start', () => {
    expect(refusal).toMatch(/instance_already_running/);
  });

  it('records nothing after it wakes, says so to whoever asks it, and ends with a code of its own', () => {
    const statuses = afterWaking.answers.map((answer) => (answer instanceof Error ? 'cut' : answer.body.code));
    // Whose policy was to be asked by a thread that has slept may be told that instead; it is as true.
    const refusals = ['cut', 'instance_taken_over', 'shutting_down', 'engine_error'];
    expect(statuses.filter((code) => !refusals.includes(code))).toEqual([]);
    expect(afterWaking.code).toBe(4);
    expect(afterWaking.output).toContain('another process has taken over');
  });

  it('keeps in its log what the tool answered after it had lost its work', () => {
    const lines = afterWaking.output.split('\n').filter((line) => line.includes('could not be recorded'));
    const kept = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(new Set(kept.map(({ toolCallId }) => toolCallId))).toEqual(new Set(onTheWire));
    expect(new Set(kept.map(({ error }) => error))).toEqual(new Set(['instance_taken_over']));
    // A slow machine starts the second process so late that the first wakes after the deadline of what it had on the wire.
    const answers = kept.map(({ answer, resultDigest = null }) => (answer === 'complete' ? resultDigest : answer));
    expect(answers).toEqual(kept.map(() => expect.stringMatching(/^(sha256:[0-9a-f]{64}|mark_unknown)$/)));
    expect(afterWaking.output).not.toContain('fault-provider-key');
  });

  it('leaves its calls to the new process: each settles once, agrees with the tool, and none is sent again', async () => {
    const views = await stack.settled(onTheWire, 30_000);
    expect(views.map(({ status }) => status)).toEqual(views.map(() => 'completed'));
    const vote = await stack.decide({ sub: 'lena', roles: ['approver'], groups: ['support-lead'] }, waiting, 'allow');
    expect(vote.status).toBe(200);
    const decided = await stack.settled([waiting.toolCallId], 20_000);
    expect(decided.filter(({ status }) => !TERMINAL.includes(status))).toEqual([]);
    const again = await stack.refund('late-11', { orderId: 'hung', amountMinor: 11 }, 20);
    expect([again.body.status, again.headers.get('idempotent-replayed')]).toEqual(['completed', null]);
    const stats = await stack.stats();
    expect(await stack.stop()).toBe(0);
    expect(contradictions(callRecords(stack.dataDir), stats)).toEqual([]);
    expect(Object.values(stats.requestsByKey)).toEqual([1, 1, 1, 1, 1]);
    const unknown = eventCounts(stack.dataDir, 'tool.call.result_unknown');
    expect(onTheWire.map((id) => unknown.get(id))).toEqual([1, 1, 1]);
    expect(takeOvers(stack.dataDir)).toEqual([{ stream_kind: 'ledger', version: 1 }]);
  }, 90_000);
});

function takeOvers(dataDir: string): unknown[] {
  const sql = `SELECT stream_kind, version FROM events WHERE event_type = 'instance.taken_over'`;
  return withDatabase(dataDir, (database) => database.prepare(sql).all());
}
