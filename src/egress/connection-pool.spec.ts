import { describe, expect, it, jest } from '@jest/globals';
import type { Connection } from './connection.js';
import { ConnectionPool } from './connection-pool.js';

interface FakeConnection {
  isOpen: boolean;
  readonly kill: jest.Mock;
  readonly disconnect: () => void;
}

interface PoolStage {
  readonly pool: ConnectionPool;
  readonly opened: FakeConnection[];
  readonly onEmpty: jest.Mock;
  /** Asks for a connection and notes which one, by its index, came when. */
  ask(name: string): () => void;
  readonly served: string[];
  takeBack(index: number): void;
}

function poolOf(connectionsMax: number): PoolStage {
  const opened: FakeConnection[] = [];
  const served: string[] = [];
  const onEmpty = jest.fn();
  const pool = new ConnectionPool(
    connectionsMax,
    (onDisconnected) => {
      const connection: FakeConnection = {
        isOpen: true,
        kill: jest.fn(() => {
          connection.isOpen = false;
        }),
        disconnect: () => {
          connection.isOpen = false;
          onDisconnected(connection as unknown as Connection);
        },
      };
      opened.push(connection);
      return connection as unknown as Connection;
    },
    onEmpty,
  );
  return {
    pool,
    opened,
    served,
    onEmpty,
    ask: (name) =>
      pool.lend((connection) => {
        served.push(`${name}:${opened.indexOf(connection as unknown as FakeConnection)}`);
      }),
    takeBack: (index) => pool.takeBack(opened[index] as unknown as Connection),
  };
}

describe('ConnectionPool', () => {
  it('lends the connection used last, and opens one only when none is idle', () => {
    const { ask, takeBack, served } = poolOf(5);
    ask('a');
    ask('b');
    takeBack(0);
    takeBack(1);
    ask('c');
    ask('d');
    ask('e');
    expect(served).toEqual(['a:0', 'b:1', 'c:1', 'd:0', 'e:2']);
  });

  it('lets requests wait in order when it is full', () => {
    const { ask, takeBack, served } = poolOf(1);
    for (const name of ['a', 'b', 'c']) ask(name);
    expect(served).toEqual(['a:0']);
    takeBack(0);
    takeBack(0);
    expect(served).toEqual(['a:0', 'b:0', 'c:0']);
  });

  it('forgets a request that left the queue', () => {
    const { ask, takeBack, served } = poolOf(1);
    ask('a');
    const leave = ask('b');
    ask('c');
    leave();
    takeBack(0);
    expect(served).toEqual(['a:0', 'c:0']);
  });

  it('replaces a connection that came back dead by a new one for whoever waits', () => {
    const { ask, takeBack, served, opened } = poolOf(1);
    ask('a');
    ask('b');
    opened[0]?.disconnect();
    takeBack(0);
    expect(served).toEqual(['a:0', 'b:1']);
    expect(opened[0]?.kill).toHaveBeenCalled();
  });

  it('drops an idle connection when it ends, and takes none back twice', () => {
    const { ask, takeBack, served, opened, onEmpty } = poolOf(1);
    ask('a');
    takeBack(0);
    opened[0]?.disconnect();
    expect(onEmpty).toHaveBeenCalledTimes(1);
    takeBack(0);
    ask('b');
    expect(served).toEqual(['a:0', 'b:1']);
  });

  it('keeps nothing once closed: idle connections go at once, lent ones when they come back', () => {
    const { pool, ask, takeBack, served, opened, onEmpty } = poolOf(2);
    ask('a');
    ask('b');
    takeBack(0);
    pool.close();
    expect(opened.map(({ isOpen }) => isOpen)).toEqual([false, true]);
    ask('c');
    ask('waiting');
    takeBack(1);
    expect(served.at(-1)).toBe('waiting:1');
    takeBack(1);
    takeBack(2);
    expect(opened.map(({ isOpen }) => isOpen)).toEqual([false, false, false]);
    expect(onEmpty).toHaveBeenCalled();
  });
});
