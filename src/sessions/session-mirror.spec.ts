import { describe, expect, it } from '@jest/globals';
import { said } from '../../test/builders/conversation-examples.js';
import { KEY, SessionInstallation } from '../../test/builders/session-installation.js';
import { settled } from '../../test/builders/session-world.js';

async function running(): Promise<SessionInstallation> {
  const world = new SessionInstallation();
  await world.open();
  await world.startRun();
  return world;
}

/** Positions of the mirrored rows, as the log has them. */
const positions = ({ logs }: SessionInstallation): readonly number[] =>
  logs.log.rows.flatMap((row) => (row.kind === 'mirror' ? [row.position] : []));

const governed = ({ installation }: SessionInstallation): readonly number[] =>
  installation.store.events
    .filter(({ envelope }) => envelope.sessionId === KEY.sessionId)
    .map(({ position }) => position);

/** Something is called outside of the session. */
const elsewhere = ({ installation }: SessionInstallation, n: number) =>
  installation.propose({ arguments: { orderId: `other-${n}`, amountMinor: 1 } });

describe('the mirror of governed events', () => {
  it('repeats each of a live session once, in order of position, whoever asks meanwhile [decision 22]', async () => {
    const world = await running();
    await world.turnWithCalls('c-1', 'c-2');
    await Promise.all([world.propose('c-1'), world.propose('c-2'), world.attach(), world.sessions.open(world.row)]);
    await world.flush();
    expect(positions(world)).toEqual(governed(world));
  });

  it('asks the store for nothing that it has looked through before', async () => {
    const world = await running();
    for (let n = 0; n < 5; n += 1) await elsewhere(world, n);
    await world.sessions.open(world.row);
    const { read } = world.installation.store;
    const asked: unknown[] = [];
    const between = read.sessionEventsBetween.bind(read);
    Object.assign(read, {
      sessionEventsBetween: (...window: Parameters<typeof between>) => {
        asked.push(window.slice(2));
        return between(...window);
      },
    });
    await world.append([said.user('u-1')]);
    expect(asked).toEqual([]);
    const head = world.installation.store.feed.head();
    await elsewhere(world, 5);
    await world.append([said.user('u-2')]);
    expect(asked).toEqual([[head - 1, world.installation.store.feed.head() - 1]]);
  });

  it('finds events by the name of the session where too much of others lies between', async () => {
    const world = await running();
    const { store } = world.installation;
    const named: unknown[] = [];
    const byName = store.read.sessionEvents.bind(store.read);
    Object.assign(store.read, {
      sessionEvents: (...asked: Parameters<typeof byName>) => {
        named.push(asked[1]);
        return byName(...asked);
      },
    });
    Object.assign(store.feed, { head: () => 5000 });
    await world.sessions.open(world.row);
    expect(named).toEqual([KEY.sessionId]);
  });

  it('misses nothing that is committed while the session is being loaded', async () => {
    const world = await running();
    await world.turnWithCalls('c-1');
    await world.flush();
    const next = await world.restarted();
    const { store } = next.installation;
    const release: (() => void)[] = [];
    const read = store.read.sessionEvents.bind(store.read);
    Object.assign(store.read, {
      sessionEvents: async (...asked: Parameters<typeof read>) => {
        const events = await read(...asked);
        if (release.length === 0) await new Promise<void>((resolve) => release.push(resolve));
        return events;
      },
    });
    const opening = next.sessions.open(next.row);
    await settled();
    await next.propose('c-1');
    release[0]?.();
    await opening;
    await next.quiet();
    await next.flush();
    expect(positions(next)).toEqual(governed(next));
    expect(next.live.hasOpenTurn).toBe(true);
  });

  it('lets go of a session that was closed meanwhile, and goes on with the one that is opened then', async () => {
    const world = await running();
    const before = world.live;
    await before.flush();
    const catching = world.propose('c-1').then(() => world.mirror.caughtUp(before));
    before.closeAdmission();
    await catching;
    expect(world.installation.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
    const next = await world.restarted();
    const live = await next.sessions.open(next.row);
    await live.flush();
    expect(positions(next)).toEqual(governed(next));
  });

  it('is asked again when a read of the store fails, and says that it did', async () => {
    const world = await running();
    const { store, log } = world.installation;
    const read = store.read.sessionEventsBetween.bind(store.read);
    Object.assign(store.read, { sessionEventsBetween: () => Promise.reject(new Error('gone')) });
    await world.propose('c-1');
    expect(log.lines.map(({ message }) => message)).toContain(
      'governed events could not be repeated in the log of their session',
    );
    Object.assign(store.read, { sessionEventsBetween: read });
    await (await world.sessions.open(world.row)).flush();
    expect(positions(world)).toEqual(governed(world));
  });

  it('repeats nothing of runs that calls opened', async () => {
    const world = await running();
    await world.flush();
    const rows = world.logs.log.rows.length;
    await world.installation.propose();
    await world.flush();
    expect(world.logs.log.rows).toHaveLength(rows);
    expect([...world.logs.artefacts.keys()]).toEqual([KEY.sessionId]);
  });
});
