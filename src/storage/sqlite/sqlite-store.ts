import { ID_PREFIXES } from '../../domain/ids/ids.js';
import type { IdSource } from '../../domain/ids/ids.js';
import type { Feed } from '../feed.js';
import type { StoreReader } from '../readers/store-reader.js';
import { Store } from '../store.js';
import type { InstanceRef, StoreStatus } from '../store.js';
import type { Committed, Unit, Write } from '../unit.js';
import type { LaneQueue } from './lane-queue.js';

/** What a SQLite store is made of; `openStore` puts it together. */
export interface StoreParts {
  readonly queue: LaneQueue;
  readonly feed: Feed;
  readonly read: StoreReader;
  readonly ids: IdSource;
  readonly now: () => number;
  readonly walBytes: () => number;
  readonly walBytesMax: number;
  /** Closes everything below the queue, in order. */
  readonly closeParts: () => Promise<void>;
}

/** One process, one data directory, one writer thread. */
export class SqliteStore extends Store {
  override readonly read: StoreReader;
  override readonly feed: Feed;
  private closed: Promise<void> | null = null;

  constructor(private readonly parts: StoreParts) {
    super();
    this.read = parts.read;
    this.feed = parts.feed;
  }

  override commit(unit: Unit): Promise<Committed> {
    return this.parts.queue.commit(unit);
  }

  override async registerInstance(): Promise<InstanceRef> {
    const { ids, now } = this.parts;
    const before = await this.read.instances();
    const epoch = (before.at(-1)?.epoch ?? 0) + 1;
    const instanceId = ids.next(ID_PREFIXES.instance);
    const at = new Date(now()).toISOString();
    const row = {
      instance_id: instanceId,
      epoch,
      pid: process.pid,
      started_at: at,
      heartbeat_at: at,
      state: 'running',
    };
    const others = before.flatMap(({ instance_id, state }) => afterwards(instance_id, state));
    const own: Write = { op: 'insert', table: 'instances', row, takenGuard: 'instance_epoch' };
    const unitId = ids.next(ID_PREFIXES.unit);
    const writes = [...others, own];
    await this.commit({ unitId, tenant: '*', lane: 'govern', guards: [], appends: [], writes, counters: [] });
    return { instanceId, epoch };
  }

  override status(): StoreStatus {
    const walBytes = this.parts.walBytes();
    const failure = this.parts.queue.failure;
    const reasons = failure === null ? [] : [failure];
    if (walBytes > this.parts.walBytesMax) {
      reasons.push(
        `the write-ahead log has ${walBytes} bytes, more than storage.walBytesMax ${this.parts.walBytesMax}`,
      );
    }
    const { length, depths } = this.parts.queue;
    return { ok: reasons.length === 0, queue: length, lanes: depths, failure, walBytes, reasons };
  }

  override close(): Promise<void> {
    this.closed ??= this.parts.queue.close().then(this.parts.closeParts);
    return this.closed;
  }
}

/** The instance before this one is kept as ended, older ones go. */
function afterwards(instanceId: string, state: string): Write[] {
  const where = { instance_id: instanceId };
  return state === 'running'
    ? [{ op: 'set', table: 'instances', where, set: { state: 'ended' }, guard: 'instance_epoch' }]
    : [{ op: 'delete', table: 'instances', where }];
}
