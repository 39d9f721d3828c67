import { CountersignError } from '../../domain/errors/countersign-error.js';
import { ID_PREFIXES } from '../../domain/ids/ids.js';
import type { IdSource } from '../../domain/ids/ids.js';
import type { Custody } from '../custody.js';
import type { Feed } from '../feed.js';
import type { StoreReader } from '../readers/store-reader.js';
import { Store } from '../store.js';
import type { InstanceRef, StoreStatus } from '../store.js';
import { GuardFailed, type Committed, type Unit } from '../unit.js';
import type { InstanceLock } from './instance-lock.js';
import type { LaneQueue } from './lane-queue.js';
import { INSTALLATION_STREAM, registrationUnit } from './registration-unit.js';

/** What a SQLite store is made of; `openStore` puts it together. */
export interface StoreParts {
  readonly queue: LaneQueue;
  readonly feed: Feed;
  readonly read: StoreReader;
  readonly ids: IdSource;
  readonly now: () => number;
  readonly walBytes: () => number;
  readonly walBytesMax: number;
  readonly lock: InstanceLock;
  /** Tells the writer in whose name it writes. */
  readonly own: (instance: InstanceRef) => Promise<void>;
  readonly custody: Custody;
  /** Closes everything below the queue, in order. */
  readonly closeParts: () => Promise<void>;
}

/** One process, one data directory, one writer thread. */
export class SqliteStore extends Store {
  override readonly read: StoreReader;
  override readonly feed: Feed;
  override readonly custody: Custody;
  private closed: Promise<void> | null = null;

  constructor(private readonly parts: StoreParts) {
    super();
    this.read = parts.read;
    this.feed = parts.feed;
    this.custody = parts.custody;
  }

  override commit(unit: Unit): Promise<Committed> {
    return this.parts.queue.commit(unit);
  }

  override async registerInstance(known = 0): Promise<InstanceRef> {
    const { ids, lock, own } = this.parts;
    const before = await this.read.instances();
    const epoch = Math.max(before.at(-1)?.epoch ?? 0, known) + 1;
    const instance = { instanceId: ids.next(ID_PREFIXES.instance), epoch };
    const registration = { instance, before, nowMs: this.parts.now(), ids };
    const version = lock.isHeld ? null : await this.read.streamVersion(INSTALLATION_STREAM);
    await this.register(registrationUnit(registration, version));
    // Nobody else writes any more; only now is the other one's lock worth nothing.
    lock.replace();
    await own(instance);
    return instance;
  }

  override whenTakenOver(listener: () => void): void {
    this.parts.queue.whenTakenOver(listener);
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

  private async register(unit: Unit): Promise<void> {
    try {
      await this.commit(unit);
    } catch (error) {
      if (!(error instanceof GuardFailed)) throw error;
      throw new CountersignError('instance_already_running', 'another process has registered in the same moment');
    }
  }
}
