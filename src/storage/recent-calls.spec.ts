import { describe, expect, it } from '@jest/globals';
import type { NewEvent } from '../domain/events/envelope.js';
import { Feed } from './feed.js';
import type { StoreReader } from './readers/store-reader.js';
import { RecentCalls } from './recent-calls.js';
import type { TableRow } from './rows/tables.js';
import type { Unit, Write } from './unit.js';

const row = (id: string, version: number) =>
  ({ tool_call_id: id, tenant: 'acme', version, status: 'dispatching' }) as TableRow<'tool_calls'>;
const attempt = (id: string, number: number) =>
  ({ tool_call_id: id, tenant: 'acme', attempt: number, state: 'dispatching' }) as TableRow<'attempts'>;
const insertCall = (id: string): Write => ({
  op: 'insert',
  table: 'tool_calls',
  row: row(id, 1),
  takenGuard: 'tool_call',
});
const event = (id: string, text = ''): NewEvent => ({
  eventId: `evt_${id}`,
  type: 'tool.call.completed',
  refs: { toolCallId: id },
  producer: 'capability-runtime',
  actor: { sub: 'countersign' },
  correlationId: id,
  causationId: null,
  causeKind: 'timer',
  occurredAt: '2031-01-01T00:00:00.000Z',
  payload: { text },
});

/** The disk of these specs: it knows nothing, and says what it was asked. */
function follow(limits?: { callsMax: number; bytesMax: number }) {
  const asked: string[] = [];
  const ask = (what: string) => (_tenant: string, id: string) => {
    asked.push(`${what} ${id}`);
    return Promise.resolve(null);
  };
  const disk = { toolCall: ask('call'), attempt: ask('attempt'), event: ask('event'), positionOf: ask('position') };
  const feed = new Feed(0, (_name, error) => {
    throw error;
  });
  const recent = new RecentCalls('v1', limits);
  recent.follow(feed);
  let position = 0;
  const publish = (parts: Partial<Unit>): void => {
    const unit = { unitId: 'unt_1', tenant: 'acme', lane: 'settle', guards: [], appends: [], writes: [], counters: [] };
    const whole = { ...unit, ...parts } as Unit;
    const eventCount = whole.appends.reduce((sum, { events }) => sum + events.length, 0);
    const committed = { unitId: 'unt_1', firstPosition: position, eventCount, recordedAt: '2031-01-01T00:00:01.000Z' };
    position += eventCount;
    feed.publish({ unit: whole, committed });
  };
  const open = (id: string, text = ''): void =>
    publish({
      writes: [insertCall(id), { op: 'insert', table: 'attempts', row: attempt(id, 1), takenGuard: 'attempt' }],
      appends: [{ stream: { kind: 'call', id }, expectedVersion: 0, events: [event(id, text)] }],
    });
  return { read: recent.inFrontOf(disk as unknown as StoreReader), asked, publish, open };
}

describe('the calls that were committed lately', () => {
  it('are answered without asking the disk, row, attempt, event and position', async () => {
    const { read, asked, open } = follow();
    open('a');
    open('b');
    expect(await read.toolCall('acme', 'b')).toEqual(row('b', 1));
    expect(await read.attempt('acme', 'b', 1)).toEqual(attempt('b', 1));
    expect(await read.event('acme', 'evt_b')).toMatchObject({ position: 1, payload: { text: '' } });
    expect(await read.positionOf('acme', 'evt_b')).toBe(1);
    expect(asked).toEqual([]);
  });

  it('follow every compare-and-set, and leave the row that was read before as it was', async () => {
    const { read, publish, open } = follow();
    open('a');
    const before = await read.toolCall('acme', 'a');
    const set = { version: 2, status: 'completed' } as const;
    publish({ writes: [{ op: 'set', table: 'tool_calls', where: { tool_call_id: 'a' }, set, guard: 'tool_call' }] });
    expect(before).toEqual(row('a', 1));
    expect(await read.toolCall('acme', 'a')).toEqual({ ...row('a', 1), ...set });
  });

  it('leave an attempt that has changed to the disk', async () => {
    const { read, asked, publish, open } = follow();
    open('a');
    const where = { tool_call_id: 'a', attempt: 1 };
    publish({ writes: [{ op: 'set', table: 'attempts', where, set: { state: 'settled' }, guard: 'attempt' }] });
    await read.attempt('acme', 'a', 1);
    expect(asked).toEqual(['attempt a']);
  });

  it('are not begun in the middle: a call of before is read from the disk', async () => {
    const { read, asked, publish } = follow();
    publish({
      writes: [{ op: 'set', table: 'tool_calls', where: { tool_call_id: 'a' }, set: { version: 5 }, guard: 'x' }],
      appends: [{ stream: { kind: 'call', id: 'a' }, expectedVersion: 4, events: [event('a')] }],
    });
    await read.toolCall('acme', 'a');
    await read.event('acme', 'evt_a');
    expect(asked).toEqual(['call a', 'event evt_a']);
  });

  it('are forgotten oldest first beyond a number of calls and beyond a size', async () => {
    for (const limits of [
      { callsMax: 2, bytesMax: 1e9 },
      { callsMax: 100, bytesMax: 2_500 },
    ]) {
      const { read, asked, open } = follow(limits);
      for (const id of ['a', 'b', 'c']) open(id, 'x'.repeat(1_000));
      await read.toolCall('acme', 'a');
      await read.event('acme', 'evt_a');
      await read.toolCall('acme', 'b');
      await read.event('acme', 'evt_c');
      expect(asked).toEqual(['call a', 'event evt_a']);
    }
  });

  it('are all forgotten when a write does not say which call it changes', async () => {
    const { read, asked, publish, open } = follow();
    open('a');
    publish({
      writes: [{ op: 'set', table: 'tool_calls', where: { status: 'dispatching' }, set: { version: 9 }, guard: 'x' }],
    });
    await read.toolCall('acme', 'a');
    await read.event('acme', 'evt_a');
    expect(asked).toEqual(['call a', 'event evt_a']);
  });

  it('belong to their tenant', async () => {
    const { read, asked, open } = follow();
    open('a');
    expect(await read.toolCall('other', 'a')).toBeNull();
    expect(await read.event('other', 'evt_a')).toBeNull();
    expect(asked).toEqual(['call a', 'event evt_a']);
  });
});
