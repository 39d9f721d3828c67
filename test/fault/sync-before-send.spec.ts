import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { FaultStack } from './support/fault-stack.js';
import { SyncOrder } from './support/sync-order.js';
import { SyscallTrace, announceMissingTracer, canTrace } from './support/syscall-trace.js';

const CALLS = 100;

/** Whole frames, so that a word anywhere in a page is seen; `-y` names the file behind a descriptor. */
const TRACE = ['-y', '-s', '8300', '-e', 'trace=fdatasync,fsync,pwrite64,pwritev,write,writev,sendto,sendmsg'];

announceMissingTracer('the order of disk and network by system calls');

describe('what the proxy does with disk and network', () => {
  let stack: FaultStack;
  afterEach(() => stack.end());

  (canTrace ? it : it.skip).each([1, 16])(
    'tells the tool and the client of a call only after its record is on disk, at %i connections',
    async (connections) => {
      stack = await FaultStack.start({ timeout: '30s' });
      await stack.order('traced');
      const order = new SyncOrder();
      const trace = await SyscallTrace.attach(stack.running.pid, TRACE, order.line);
      let next = 0;
      const one = async (): Promise<void> => {
        // Every other caller does not wait for the result, so both kinds of answer are seen.
        for (let n = (next += 1); n <= CALLS; n = next += 1) {
          const answer = await stack.refund(`traced-${n}`, { orderId: 'traced', amountMinor: n }, n % 2 === 0 ? 20 : 0);
          if (answer.status >= 400) throw new Error(`refused with ${answer.status}`);
        }
      };
      await Promise.all(Array.from({ length: connections }, one));
      while ((await stack.stats()).executions < CALLS) await pause(50);
      await trace.detach();

      expect(order.violations).toEqual([]);
      expect(order.inOrder.tool.size).toBe(CALLS);
      expect(order.inOrder.client.size).toBeGreaterThanOrEqual(CALLS);
    },
    300_000,
  );
});

describe('the check of the order itself', () => {
  const KEY = `cs_${'0a1b'.repeat(10)}`;
  const WRITE = `[pid    11] pwrite64(20</data/countersign.sqlite-wal>, "\\0\\r${KEY}dec_1", 4096, 56) = 4096`;
  const LAST_FRAME = `[pid    11] pwrite64(20</data/countersign.sqlite-wal>, "\\0", 4096, 4176) = 4096`;
  const SYNC = '[pid    11] fdatasync(20</data/countersign.sqlite-wal>) = 0';
  const SEND = `[pid    10] write(31<socket:[77]>, "POST /v1/refunds HTTP/1.1\\r\\nidempotency-key: ${KEY}\\r\\n", 240) = 240`;

  const judge = (...lines: string[]): SyncOrder => {
    const order = new SyncOrder();
    lines.forEach(order.line);
    return order;
  };

  it('accepts a send after the sync of its record', () => {
    const order = judge(WRITE, LAST_FRAME, SYNC, SEND);
    expect(order.violations).toEqual([]);
    expect([...order.inOrder.tool]).toEqual([KEY]);
  });

  it.each<[string, string[]]>([
    ['a send with no sync at all', [WRITE, LAST_FRAME, SEND]],
    ['a send before the sync', [WRITE, LAST_FRAME, SEND, SYNC]],
    ['a sync that began before the record was written', [SYNC, WRITE, SEND]],
    ['a sync of another file', [WRITE, SYNC.replace('-wal', ''), SEND]],
    ['a sync by another thread', [WRITE, SYNC.replace('pid    11', 'pid    12'), LAST_FRAME, SEND]],
    ['a sync that failed', [WRITE, SYNC.replace('= 0', '= -1 EIO (Input/output error)'), SEND]],
    [
      'a sync that has begun and not ended',
      [WRITE, '[pid    11] fdatasync(20</data/countersign.sqlite-wal> <unfinished ...>', SEND],
    ],
    [
      'a sync that ended only after the send',
      [
        WRITE,
        '[pid    11] fdatasync(20</data/countersign.sqlite-wal> <unfinished ...>',
        SEND,
        '[pid    11] <... fdatasync resumed>) = 0',
      ],
    ],
  ])('finds %s', (_, lines) => {
    expect(judge(...lines).violations).toEqual([{ word: KEY, to: 'tool', why: 'not synced' }]);
  });

  it('accepts a sync that is told in two lines', () => {
    const begin = '[pid    11] fdatasync(20</data/countersign.sqlite-wal> <unfinished ...>';
    expect(judge(WRITE, begin, '[pid    11] <... fdatasync resumed>) = 0', SEND).violations).toEqual([]);
  });

  it('finds a key that is sent without a record', () => {
    expect(judge(SEND).violations).toEqual([{ word: KEY, to: 'tool', why: 'never recorded' }]);
  });

  it('finds an answer that names a call too early', () => {
    const id = `call_${'0'.repeat(26)}`;
    const answer = `[pid    10] writev(30<socket:[78]>, [{iov_base="HTTP/1.1 202 Accepted\\r\\n", iov_len=240}, {iov_base="{\\"toolCallId\\":\\"${id}\\"}", iov_len=99}], 2) = 339`;
    expect(judge(answer).violations).toEqual([{ word: id, to: 'client', why: 'never recorded' }]);
  });
});
