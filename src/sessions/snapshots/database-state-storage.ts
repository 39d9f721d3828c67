import type { JsonObject } from '../../domain/json/json-value.js';
import { encodeSnapshot } from '../../domain/session/codec/snapshot-codec.js';
import type { SecretTest } from '../../domain/session/codec/plain-json.js';
import { SessionError } from '../../domain/session/session-errors.js';
import { sessionIdProblem } from '../../domain/session/session-id.js';
import type { SessionKey } from '../../domain/session/session-key.js';
import type { SessionSnapshot } from '../../domain/session/session-state.js';
import type { LoadedSnapshot, StateStorage } from './state-storage.js';
import {
  chooseSnapshot,
  encodeRefused,
  isWhole,
  markedAs,
  newSnapshot,
  saveFailed,
  stored,
} from './stored-snapshot.js';

/** The rows that hold snapshots. Every method is one transaction. */
export interface SnapshotTable {
  /** What was main becomes bak, the content becomes main, and the mark goes away, all or nothing. */
  saveSnapshot(key: SessionKey, content: string, savedAt: string): Promise<void>;
  loadSnapshot(
    key: SessionKey,
  ): Promise<{ readonly main: string | null; readonly bak: string | null; readonly marked: boolean }>;
  markSnapshot(key: SessionKey, at: string): Promise<void>;
  /** Content, bak and mark; of one that is not there too. */
  deleteSnapshot(key: SessionKey): Promise<void>;
  /** Whether main or bak is there. */
  hasSnapshot(key: SessionKey): Promise<boolean>;
}

/** What is forgotten is read once more before the next save. */
const REMEMBERED_MAX = 10_000;

/** Snapshots as rows, with the same contract as files. */
export class DatabaseStateStorage implements StateStorage {
  /** Sessions whose rows this process has read or written: they are not of a newer program. */
  private readonly known = new Set<string>();

  constructor(
    private readonly table: SnapshotTable,
    private readonly isSecret: SecretTest,
    private readonly clock: { now(): number },
  ) {}

  async loadOrCreate(key: SessionKey, initialMetadata?: JsonObject): Promise<LoadedSnapshot> {
    requireId(key);
    const { main, bak, marked } = await this.table.loadSnapshot(key);
    return main === null && bak === null ? newSnapshot(key, marked, initialMetadata) : this.load(key);
  }

  async load(key: SessionKey): Promise<LoadedSnapshot> {
    requireId(key);
    const { main, bak, marked } = await this.table.loadSnapshot(key);
    const { snapshot, loadSource } = await chooseSnapshot(key, stored(main), async () => stored(bak));
    this.remember(key);
    return { snapshot: markedAs(snapshot, marked), loadSource, notResumable: marked };
  }

  async save(snapshot: SessionSnapshot): Promise<void> {
    requireId(snapshot);
    const encoded = encodeSnapshot(snapshot, this.isSecret);
    if (!encoded.ok) throw encodeRefused(snapshot, encoded.problem);
    try {
      await this.refuseNewer(snapshot);
      await this.table.saveSnapshot(snapshot, encoded.value, this.now());
      this.remember(snapshot);
    } catch (error) {
      throw error instanceof SessionError ? error : saveFailed(snapshot, error);
    }
  }

  async delete(key: SessionKey): Promise<void> {
    requireId(key);
    this.known.delete(nameOf(key));
    await this.table.deleteSnapshot(key);
  }

  async exists(key: SessionKey): Promise<boolean> {
    requireId(key);
    return this.table.hasSnapshot(key);
  }

  async markNotResumable(key: SessionKey): Promise<void> {
    requireId(key);
    try {
      await this.table.markSnapshot(key, this.now());
    } catch (error) {
      throw saveFailed(key, error);
    }
  }

  async close(): Promise<void> {
    // The rows belong to whoever opened the database.
  }

  /** Nothing of a newer program is replaced, be it newest or the one before. */
  private async refuseNewer(key: SessionKey): Promise<void> {
    if (this.known.has(nameOf(key))) return;
    const { main, bak } = await this.table.loadSnapshot(key);
    if (!isWhole(stored(main), key)) isWhole(stored(bak), key);
  }

  private remember(key: SessionKey): void {
    if (this.known.size >= REMEMBERED_MAX) this.known.clear();
    this.known.add(nameOf(key));
  }

  private now(): string {
    return new Date(this.clock.now()).toISOString();
  }
}

const nameOf = ({ tenant, sessionId }: SessionKey): string => JSON.stringify([tenant, sessionId]);

function requireId({ sessionId }: SessionKey): void {
  const problem = sessionIdProblem(sessionId);
  if (problem !== null) throw new SessionError('invalid_session_id', problem);
}
