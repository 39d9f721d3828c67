import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { PEOPLE } from '../../examples/refunds/stack.mjs';
import { FaultStack } from './support/fault-stack.js';
import { SyscallTrace, announceMissingTracer, canTrace } from './support/syscall-trace.js';

const HELD_MS = 3_000;

/** Every flush begins this much late; the calls themselves are carried out. */
const HOLD_BACK = ['-e', 'trace=fdatasync,fsync', '-e', `inject=fdatasync,fsync:delay_enter=${HELD_MS * 1_000}`];

announceMissingTracer('a flush that is held back');

describe('a flush that is held back', () => {
  let stack: FaultStack;
  afterEach(() => stack.end());

  (canTrace ? it : it.skip)(
    'shows nobody a call before it is on disk: no answer, no repeat, no list, no tool',
    async () => {
      // The attempt's deadline runs while its intent is being flushed, and must not be what ends it.
      stack = await FaultStack.start({ timeout: '30s' });
      await stack.order('held');
      // The run of the day exists already, so that only what is new can be what is waited for.
      await stack.refund('before', { orderId: 'held', amountMinor: 1 }, 10);
      const trace = await SyscallTrace.attach(stack.running.pid, HOLD_BACK, () => undefined);
      const begun = performance.now();
      const timed = async <T>(work: Promise<T>): Promise<{ answer: T; afterMs: number }> => {
        const answer = await work;
        return { answer, afterMs: performance.now() - begun };
      };
      const first = timed(stack.refund('held', { orderId: 'held', amountMinor: 2 }));
      await pause(300);
      const repeat = timed(stack.refund('held', { orderId: 'held', amountMinor: 2 }));
      await pause(HELD_MS / 2 - 300);
      const listed = await timed(stack.call(PEOPLE.operator, 'GET', '/v1/tool-calls'));
      const sentMeanwhile = (await timed(stack.stats())).answer.requestsByKey;
      const lookedAfterMs = performance.now() - begun;
      const answers = await Promise.all([first, repeat]);
      await trace.detach();

      expect(lookedAfterMs).toBeLessThan(HELD_MS);
      expect(listed.answer.body.items).toHaveLength(1);
      expect(Object.keys(sentMeanwhile)).toHaveLength(1);
      expect(answers.map(({ answer }) => answer.status < 300)).toEqual([true, true]);
      for (const { afterMs } of answers) expect(afterMs).toBeGreaterThanOrEqual(HELD_MS);
      expect(new Set(answers.map(({ answer }) => answer.body.toolCallId)).size).toBe(1);
      expect((await stack.show(answers[0]?.answer.body.toolCallId, 20)).status).toBe('completed');
      expect(Object.values((await stack.stats()).requestsByKey)).toEqual([1, 1]);
    },
  );
});
