import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PEOPLE } from '../../examples/refunds/stack.mjs';
import { until } from '../support/until.js';
import { FaultStack, NEEDS_LEAD, TERMINAL } from './support/fault-stack.js';
import { contradictions } from './support/oracle.js';
import { callRecords } from './support/stopped-database.js';

const HOUR_MS = 3_600_000;
const MOVED_CLOCK = new URL('./support/moved-clock.mjs', import.meta.url).href;

/** The two clocks are read one after the other, so a move is seen as a little less or more than it was. */
const tellsOfMove =
  (byMs: number) =>
  (all: readonly string[]): boolean =>
    all.some((one) => {
      const seen = /^clock: the wall clock moved by (-?\d+) ms/.exec(one)?.[1];
      return seen !== undefined && Math.abs(Number(seen) - byMs) < 60_000;
    });

/** The wall clock of a running process is moved: forward over every deadline, and back again. */
describe('a wall clock that jumps', () => {
  const dir = mkdtempSync(join(tmpdir(), 'countersign-clock-'));
  const file = join(dir, 'offset');
  const move = (byMs: number): void => writeFileSync(file, String(byMs));
  let stack: FaultStack;

  const reasons = async (): Promise<readonly string[]> => {
    const { body } = await stack.call(PEOPLE.operator, 'GET', '/readyz');
    return body.reasons.map(({ name, detail }: { name: string; detail: string }) => `${name}: ${detail}`);
  };
  const pause = (type: 'pause' | 'unpause') => stack.control({ type, target: { capability: 'refund.create' } });

  beforeAll(async () => {
    move(0);
    const env = { MOVED_CLOCK_FILE: file, NODE_OPTIONS: `--import=${MOVED_CLOCK}` };
    stack = await FaultStack.start({ env, timeout: '5s' });
    await stack.order('clock');
  }, 60_000);
  afterAll(async () => {
    await stack.end();
    rmSync(dir, { recursive: true, force: true });
  });

  it('by an hour forward sends nothing that was allowed before, and operators are told', async () => {
    const granted = await stack.refundForApproval('granted', 'clock');
    expect((await pause('pause')).status).toBe(202);
    expect((await stack.decide(PEOPLE.lena, granted, 'allow')).status).toBe(200);
    move(HOUR_MS);
    expect((await pause('unpause')).status).toBe(202);
    expect((await stack.show(granted.toolCallId, 10)).status).toBe('not_executed');
    expect((await stack.stats()).executions).toBe(0);
    await until('the jump forward', reasons, tellsOfMove(HOUR_MS));
    expect((await stack.refund('forward', { orderId: 'clock', amountMinor: 1 }, 20)).body.status).toBe('completed');
  }, 30_000);

  it('back by an hour brings nothing back to life, and new calls and answers of people go on', async () => {
    const asked = await stack.refundForApproval('asked', 'clock');
    const ended = await stack.refundForApproval('ended', 'clock', NEEDS_LEAD + 1);
    expect((await stack.decide(PEOPLE.lena, ended, 'deny')).status).toBe(200);
    move(0);
    await until('the jump back', reasons, tellsOfMove(-HOUR_MS));
    expect((await stack.decide(PEOPLE.lena, ended, 'allow')).body.code).toBe('approval_already_decided');
    expect((await stack.decide(PEOPLE.lena, asked, 'allow')).status).toBe(200);
    expect((await stack.show(asked.toolCallId, 20)).status).toBe('completed');
    expect((await stack.refund('back', { orderId: 'clock', amountMinor: 2 }, 20)).body.status).toBe('completed');
  }, 30_000);

  it('while requests are on the wire never makes one effect two, and the record agrees with the tool', async () => {
    await stack.fault({ orderId: 'clock', delayAfterMs: 1_000 });
    const keys = ['a', 'b', 'c', 'd'];
    const proposed = await Promise.all(
      keys.map((key, n) => stack.refund(key, { orderId: 'clock', amountMinor: 10 + n })),
    );
    move(HOUR_MS);
    const views = await stack.settled(
      proposed.map(({ body }) => body.toolCallId as string),
      30_000,
    );
    expect(views.map(({ status }) => TERMINAL.includes(status))).toEqual(keys.map(() => true));
    const stats = await stack.stats();
    await stack.stop();
    expect(contradictions(callRecords(stack.dataDir), stats)).toEqual([]);
    expect(Math.max(...Object.values(stats.requestsByKey))).toBe(1);
  }, 60_000);
});
