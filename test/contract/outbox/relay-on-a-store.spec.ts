import { rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import Database from 'better-sqlite3';
import { KeptLog } from '../../builders/installation.js';
import { ScriptedReceiver, webhookSettings } from '../../builders/outbox-bench.js';
import { settingsWith } from '../../builders/settings-examples.js';
import { until } from '../../support/until.js';
import type { SinkSettings } from '../../../src/config/settings.js';
import { OutboxRelay } from '../../../src/outbox/outbox-relay.js';
import { InstanceIdentity } from '../../../src/storage/instance-identity.js';
import { databasePath } from '../../../src/storage/sqlite/database-file.js';
import { resolveSecret } from '../../../src/secrets/secret-reference.js';
import { UnitDesk } from '../../../src/storage/units/unit-desk.js';
import { SystemClock } from '../../../src/system/clock.js';
import { IdSource } from '../../../src/system/id-source.js';
import { SystemRandom } from '../../../src/system/random-source.js';
import { newDataDir, openSqlite, type OpenedStore } from '../storage/opened-store.js';

let dataDir: string;
let opened: OpenedStore;
let desk: UnitDesk;
let receiver: ScriptedReceiver;
const relays: OutboxRelay[] = [];

beforeEach(async () => {
  dataDir = newDataDir();
  opened = await openSqlite({}, dataDir);
  desk = await deskOn(opened);
  receiver = new ScriptedReceiver();
});
afterEach(async () => {
  for (const relay of relays.splice(0)) await relay.stop();
  await opened.discard();
  rmSync(dataDir, { recursive: true, force: true });
});

async function deskOn({ store }: OpenedStore): Promise<UnitDesk> {
  const [clock, random] = [new SystemClock(), new SystemRandom()];
  return new UnitDesk(store, new IdSource(clock, random), clock, new InstanceIdentity(await store.registerInstance()));
}

async function relayOf(
  sink: SinkSettings = webhookSettings({ backoffMs: 10, backoffMsMax: 20 }),
): Promise<OutboxRelay> {
  const settings = settingsWith({ outbox: { lagMsMax: 1000, sinks: { ops: sink } } });
  const relay = new OutboxRelay(
    settings,
    desk,
    { client: receiver, resolve: resolveSecret },
    new SystemRandom(),
    new KeptLog(),
  );
  relays.push(relay);
  await relay.open();
  relay.start();
  return relay;
}

/** One event about a new call. */
async function announce(call: string): Promise<void> {
  const at = desk.now();
  const about = { tenant: 'acme', actor: { sub: 'sam' }, correlationId: call, occurredAt: at };
  const draft = desk.begin({ ...about, lane: 'admit', causationId: null, causeKind: 'external' });
  const event = { type: 'tool.call.denied', payload: { basis: 'policy', reasons: [] } } as const;
  draft.append({ kind: 'call', id: call }, 0, [event], { toolCallId: call });
  await desk.commit(draft);
}

const crowd = (count: number, name: string): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, (_, n) => announce(`${name}_${n}`)));

const told = (count: number): Promise<unknown> =>
  until(
    'every event',
    () => new Set(receiver.positions).size,
    (size) => size >= count,
  );

/** Rows of a closed store: nobody else opens the files of a running one. */
async function rowsOf<R>(sql: string): Promise<readonly R[]> {
  for (const relay of relays.splice(0)) await relay.stop();
  await opened.store.close();
  const database = new Database(databasePath(dataDir), { readonly: true });
  const rows = database.prepare(sql).all() as R[];
  database.close();
  opened = await openSqlite({}, dataDir);
  desk = await deskOn(opened);
  return rows;
}

describe('a relay on a store', () => {
  it('passes over no event, however late it is committed beside others, and none comes before an earlier one', async () => {
    await relayOf();
    const heads: number[] = [];
    receiver.answer = ({ position }) => {
      heads.push(opened.store.feed.head());
      expect(position).toBeLessThan(opened.store.feed.head());
      return 200;
    };
    for (let round = 0; round < 5; round += 1) await crowd(200, `round-${round}`);
    await told(1_000);
    expect(receiver.positions.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 1_000 }, (_, n) => n));
  });

  it('shows every event of every sink in the view: published, pending, parked or dead', async () => {
    receiver.answer = ({ position }) => (position === 2 ? 400 : position === 3 ? 503 : 200);
    const relay = await relayOf(webhookSettings({ backoffMs: 10, backoffMsMax: 10, maxTries: 1 }));
    await crowd(6, 'call');
    await until(
      'the dead letter',
      () => relay.statuses()[0],
      (status) => status?.dead === 2,
    );
    await relay.stop();
    await announce('late');
    const rows = await rowsOf<{ position: number; state: string; event_id: string; sink: string; event_type: string }>(
      'SELECT * FROM outbox ORDER BY position',
    );
    expect(rows.map(({ position, state }) => [position, state])).toEqual([
      [0, 'published'],
      [1, 'published'],
      [2, 'dead'],
      [3, 'dead'],
      [4, 'published'],
      [5, 'published'],
      [6, 'pending'],
    ]);
    expect(rows[0]).toMatchObject({ sink: 'ops', event_type: 'tool.call.denied' });
    expect(rows.map(({ event_id }) => event_id)).toEqual([...new Set(rows.map(({ event_id }) => event_id))]);
  });

  it('has no row per event, and the view has none for what a sink does not want', async () => {
    await relayOf(webhookSettings({ types: ['approval.*'] }));
    await crowd(50, 'call');
    const [counts] = await rowsOf<Record<string, number>>(
      `SELECT (SELECT count(*) FROM sink_cursors) AS cursors, (SELECT count(*) FROM sink_parked) AS parked,
        (SELECT count(*) FROM outbox) AS outbox, (SELECT count(*) FROM events) AS events`,
    );
    expect(counts).toEqual({ cursors: 1, parked: 0, outbox: 0, events: 50 });
  });

  it('goes on where it was after a restart, parked events included', async () => {
    let isBroken = true;
    receiver.answer = ({ position }) => (position === 0 && isBroken ? 500 : 200);
    const first = await relayOf();
    await announce('poison');
    await crowd(10, 'call');
    await until(
      'it is parked',
      () => first.statuses()[0],
      (status) => status?.parked === 1,
    );
    await rowsOf('SELECT 1');
    isBroken = false;
    const second = await relayOf();
    await announce('after');
    await told(12);
    await until(
      'nothing is parked',
      () => second.statuses()[0],
      (status) => status?.parked === 0,
    );
    const repeated = receiver.positions.length - new Set(receiver.positions).size;
    expect(repeated).toBe(0);
  });

  it('catches up from the table when memory no longer has the events', async () => {
    receiver.answer = () => 'connect_failed';
    await relayOf();
    for (let round = 0; round < 12; round += 1) await crowd(500, `round-${round}`);
    receiver.answer = () => 200;
    await told(6_000);
    expect(new Set(receiver.positions).size).toBe(6_000);
  });

  it('reads a dead letter with what it is about, page by page', async () => {
    receiver.answer = ({ position }) => (position % 2 === 0 ? 400 : 200);
    const relay = await relayOf(webhookSettings({ maxTries: 1 }));
    await crowd(8, 'call');
    await until(
      'the dead letters',
      () => relay.statuses()[0],
      (status) => status?.dead === 4,
    );
    const { read } = opened.store;
    const page = await until(
      'they are written',
      () => read.deadLetters('ops', -1, 3),
      (rows) => rows.length === 3,
    );
    expect(page.map(({ position }) => position)).toEqual([0, 2, 4]);
    expect(page[0]).toMatchObject({ sink: 'ops', tries: 1, tenant: 'acme', event_type: 'tool.call.denied' });
    expect((await read.deadLetters(null, 4, 3)).map(({ position }) => position)).toEqual([6]);
    expect(await read.deadLetters('another', -1, 3)).toEqual([]);
  });
});
