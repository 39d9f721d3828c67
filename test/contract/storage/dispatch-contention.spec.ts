import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Store } from '../../../src/storage/store.js';
import { TENANT } from '../../builders/installation.js';
import { openSqlite, type OpenedStore } from './opened-store.js';
import { commitAll, tally } from './outcomes.js';
import { CallScript } from './unit-builders.js';
import { Parts } from './dispatch-crowd.js';

const DISPATCHERS = 1_000;
const NEIGHBOURS = 50;

let opened: OpenedStore;
let parts: Parts;

beforeEach(async () => {
  opened = await openSqlite();
  keepInThisRealm(opened.store);
  parts = await Parts.over(opened.store);
});

afterEach(() => opened.discard());

/**
 * The driver is native and makes its arrays outside the realm that jest runs specs in, where no array is ever deeply and
 * strictly equal to one of theirs; the dispatcher compares rows with events in just that way.
 */
function keepInThisRealm({ read }: Store): void {
  const votes = read.votes.bind(read);
  jest.spyOn(read, 'votes').mockImplementation(async (tenant, id) => Array.from(await votes(tenant, id)));
}

/** The type, and the unit, of every event there is, in order of position. */
async function everything() {
  const events = await opened.store.read.eventsAfter(-1, 10_000, null);
  expect(events.map(({ position }) => position)).toEqual(events.map((_, index) => index));
  return events.map(({ envelope }) => envelope);
}

describe('1,000 dispatches of one call at the same moment', () => {
  it('consume its approval once and start one attempt, while neighbours go through', async () => {
    const id = await parts.approved();
    const open = Array.from({ length: NEIGHBOURS / 2 }, () => new CallScript());
    expect(
      tally(
        await commitAll(
          opened.store,
          open.map((script) => script.proposeAndDispatch()),
        ),
      ),
    ).toEqual({
      committed: NEIGHBOURS / 2,
    });
    // Half of them in the lane of the dispatches themselves, half in the one that comes last.
    const fresh = Array.from({ length: NEIGHBOURS / 2 }, () => new CallScript());
    const neighbours = open.flatMap((script, index) => [
      script.settle(),
      (fresh[index] as CallScript).proposeAndDispatch(),
    ]);

    const results = await parts.crowd(id, DISPATCHERS, neighbours);

    expect(tally(results)).toEqual({ dispatching: 1, closed: DISPATCHERS - 1 });
    expect(tally((await parts.desk.outcomes) ?? [])).toEqual({ committed: 1, 'guard execute_by': DISPATCHERS - 1 });
    expect(tally((await parts.desk.neighbourOutcomes) ?? [])).toEqual({ committed: NEIGHBOURS });
    await expectOneAttempt(id);
    expect((await parts.approvalOf(id)).state.status).toBe('consumed');
    const envelopes = await everything();
    expect(envelopes.filter(({ eventType }) => eventType === 'approval.consumed')).toHaveLength(1);
    for (const script of open) {
      expect((await opened.store.read.toolCall(TENANT, script.toolCallId))?.status).toBe('completed');
    }
    for (const script of fresh) {
      expect((await opened.store.read.toolCall(TENANT, script.toolCallId))?.status).toBe('dispatching');
    }
  });

  it('are whole units of a decision, a consumption and an intent, and of the losers nothing is kept', async () => {
    const id = await parts.approved();
    const before = (await everything()).length;
    await parts.crowd(id, DISPATCHERS);
    expect(new Set(parts.desk.built.map(({ unitId }) => unitId)).size).toBe(DISPATCHERS);
    for (const { appends, writes, guards } of parts.desk.built) {
      expect(appends.flatMap(({ events }) => events.map(({ type }) => type))).toEqual([
        'policy.decided',
        'approval.consumed',
        'tool.call.dispatching',
      ]);
      expect(writes.map(({ table }) => table).toSorted()).toEqual(['approvals', 'attempts', 'tool_calls', 'work']);
      expect(guards.map(({ name }) => name)).toEqual([
        'pauses',
        'capability',
        'instance',
        'run_open',
        'policy',
        'execute_by',
        'approval',
      ]);
    }
    const after = (await everything()).slice(before);
    expect(after.map(({ eventType }) => eventType)).toEqual([
      'policy.decided',
      'approval.consumed',
      'tool.call.dispatching',
    ]);
    expect(new Set(after.map(({ unitId }) => unitId)).size).toBe(1);
  });

  it.each([
    [['execute_by'], 'guard approval'],
    [['execute_by', 'approval'], 'guard stream:call/'],
  ])('start one attempt even without the guards %j, by the next in line: %s', async (without, next) => {
    const id = await parts.approved();
    parts.desk.without = without;
    const results = await parts.crowd(id, 100);
    expect(tally(results)).toEqual({ dispatching: 1, closed: 99 });
    const outcomes = ((await parts.desk.outcomes) ?? []).map((outcome) => outcome.replace(id, ''));
    expect(tally(outcomes)).toEqual({ committed: 1, [next]: 99 });
    await expectOneAttempt(id);
    expect((await everything()).filter(({ eventType }) => eventType === 'approval.consumed')).toHaveLength(1);
  });

  it('start one attempt where no approval stands between them either', async () => {
    const id = await parts.authorized();
    const results = await parts.crowd(id, DISPATCHERS);
    expect(tally(results)).toEqual({ dispatching: 1, closed: DISPATCHERS - 1 });
    expect(tally((await parts.desk.outcomes) ?? [])).toEqual({ committed: 1, 'guard execute_by': DISPATCHERS - 1 });
    await expectOneAttempt(id);
    await everything();
  });
});

/** One intent to send, one attempts row under its nonce, one work row under its claim. */
async function expectOneAttempt(id: string): Promise<void> {
  const { state, row } = await parts.call(id);
  expect(state).toMatchObject({ status: 'dispatching', attempt: 1 });
  const stream = await opened.store.read.streamEvents(TENANT, { kind: 'call', id });
  const intents = stream.filter(({ envelope }) => envelope.eventType === 'tool.call.dispatching');
  expect(intents).toHaveLength(1);
  expect(stream.map(({ envelope }) => envelope.version)).toEqual(stream.map((_, index) => index + 1));
  expect(row.version).toBe(stream.length);
  const attempt = await opened.store.read.attempt(TENANT, id, 1);
  expect(attempt).toMatchObject({ nonce: intents[0]?.payload['nonce'], state: 'dispatching', fence: 1 });
  expect(await opened.store.read.attempt(TENANT, id, 2)).toBeNull();
  expect(await opened.store.read.workOf(TENANT, id)).toMatchObject({ kind: 'observe', owner: attempt?.owner });
}
