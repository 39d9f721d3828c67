import type { Connection } from './connection.js';

export type OpenConnection = (onDisconnected: (connection: Connection) => void) => Connection;

type Waiter = (connection: Connection) => void;

/**
 * The connections of one origin under one allow list: at most `connectionsMax`, each lent to one request at a time, the one used last
 * lent first. A request that finds none waits in order.
 */
export class ConnectionPool {
  private readonly idle: Connection[] = [];
  private readonly lent = new Set<Connection>();
  private readonly waiters = new Set<Waiter>();
  private isClosed = false;

  constructor(
    private readonly connectionsMax: number,
    private readonly open: OpenConnection,
    private readonly onEmpty: () => void,
  ) {}

  /** Lends a connection, at once or later. The answer takes the request out of the queue; once lent it does nothing. */
  lend(waiter: Waiter): () => void {
    const connection = this.idle.pop();
    if (connection !== undefined) this.give(connection, waiter);
    else if (this.lent.size < this.connectionsMax) this.give(this.opened(), waiter);
    else this.waiters.add(waiter);
    return () => {
      this.waiters.delete(waiter);
    };
  }

  /** A connection that is no longer open is dropped, and whoever waits gets a new one. */
  takeBack(connection: Connection): void {
    if (!this.lent.delete(connection)) return;
    const [waiter] = this.waiters;
    if (!connection.isOpen || (this.isClosed && waiter === undefined)) connection.kill();
    if (waiter !== undefined) {
      this.waiters.delete(waiter);
      this.give(connection.isOpen ? connection : this.opened(), waiter);
    } else if (connection.isOpen) this.idle.push(connection);
    this.reportWhenEmpty();
  }

  /** Keeps no connection from here on: what is idle goes now, what is lent when it comes back. */
  close(): void {
    this.isClosed = true;
    for (const connection of this.idle.splice(0)) connection.kill();
    this.reportWhenEmpty();
  }

  private opened(): Connection {
    return this.open((connection) => this.dropIdle(connection));
  }

  private give(connection: Connection, waiter: Waiter): void {
    this.lent.add(connection);
    waiter(connection);
  }

  private dropIdle(connection: Connection): void {
    const index = this.idle.indexOf(connection);
    if (index === -1) return;
    this.idle.splice(index, 1);
    connection.kill();
    this.reportWhenEmpty();
  }

  private reportWhenEmpty(): void {
    if (this.idle.length + this.lent.size + this.waiters.size === 0) this.onEmpty();
  }
}
