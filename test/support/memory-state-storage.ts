import type { JsonObject } from '../../src/domain/json/json-value.js';
import { NO_SECRETS } from '../../src/domain/session/codec/plain-json.js';
import type { SessionKey } from '../../src/domain/session/session-key.js';
import type { SessionSnapshot } from '../../src/domain/session/session-state.js';
import { DatabaseStateStorage, type SnapshotTable } from '../../src/sessions/snapshots/database-state-storage.js';
import type { LoadedSnapshot, StateStorage } from '../../src/sessions/snapshots/state-storage.js';

interface Row {
  main: string | null;
  bak: string | null;
  marked: boolean;
}

/** The rows of snapshots in memory; tests may write to them and let the next calls fail. */
export class MemorySnapshotTable implements SnapshotTable {
  readonly rows = new Map<string, Row>();
  /** What the next calls reject with, in order of the calls that write. */
  readonly failures: (Error | null)[] = [];

  async saveSnapshot(key: SessionKey, content: string): Promise<void> {
    this.failWhenTold();
    this.rows.set(nameOf(key), { main: content, bak: this.rowOf(key).main, marked: false });
  }

  async loadSnapshot(key: SessionKey): Promise<Row> {
    return { ...this.rowOf(key) };
  }

  async markSnapshot(key: SessionKey): Promise<void> {
    this.failWhenTold();
    this.rows.set(nameOf(key), { ...this.rowOf(key), marked: true });
  }

  async deleteSnapshot(key: SessionKey): Promise<void> {
    this.rows.delete(nameOf(key));
  }

  async hasSnapshot(key: SessionKey): Promise<boolean> {
    const { main, bak } = this.rowOf(key);
    return main !== null || bak !== null;
  }

  put(key: SessionKey, row: Partial<Row>): void {
    this.rows.set(nameOf(key), { ...this.rowOf(key), ...row });
  }

  rowOf(key: SessionKey): Row {
    return this.rows.get(nameOf(key)) ?? { main: null, bak: null, marked: false };
  }

  private failWhenTold(): void {
    const failure = this.failures.shift();
    if (failure !== undefined && failure !== null) throw failure;
  }
}

const nameOf = ({ tenant, sessionId }: SessionKey): string => JSON.stringify([tenant, sessionId]);

/** Snapshots that live as long as the object, as texts, so that what is loaded is never what was saved. */
export class MemoryStateStorage implements StateStorage {
  readonly table = new MemorySnapshotTable();
  private readonly inner = new DatabaseStateStorage(this.table, NO_SECRETS, { now: () => 0 });

  loadOrCreate(key: SessionKey, initialMetadata?: JsonObject): Promise<LoadedSnapshot> {
    return this.inner.loadOrCreate(key, initialMetadata);
  }

  load(key: SessionKey): Promise<LoadedSnapshot> {
    return this.inner.load(key);
  }

  save(snapshot: SessionSnapshot): Promise<void> {
    return this.inner.save(snapshot);
  }

  delete(key: SessionKey): Promise<void> {
    return this.inner.delete(key);
  }

  exists(key: SessionKey): Promise<boolean> {
    return this.inner.exists(key);
  }

  markNotResumable(key: SessionKey): Promise<void> {
    return this.inner.markNotResumable(key);
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}
