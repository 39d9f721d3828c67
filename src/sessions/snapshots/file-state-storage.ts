import path from 'node:path';
import type { JsonObject } from '../../domain/json/json-value.js';
import { encodeSnapshot } from '../../domain/session/codec/snapshot-codec.js';
import type { SecretTest } from '../../domain/session/codec/plain-json.js';
import { SessionError } from '../../domain/session/session-errors.js';
import { safeSessionName, safeTenantName, sessionIdProblem, shownSessionId } from '../../domain/session/session-id.js';
import type { SessionKey } from '../../domain/session/session-key.js';
import type { SessionSnapshot } from '../../domain/session/session-state.js';
import { SerialChain } from '../serial-chain.js';
import { DiskFiles, type SnapshotFiles } from './snapshot-files.js';
import type { LoadedSnapshot, StateStorage } from './state-storage.js';
import {
  chooseSnapshot,
  encodeRefused,
  isWhole,
  markedAs,
  newSnapshot,
  saveFailed,
  type StoredText,
} from './stored-snapshot.js';

/** The four files of a session. */
interface Paths {
  readonly directory: string;
  readonly main: string;
  /** The snapshot before main. */
  readonly bak: string;
  /** Being written; never read. */
  readonly tmp: string;
  /** Present: the last end could not be saved. */
  readonly ended: string;
}

const MARK = '1';
/** What is forgotten is read once more before the next save. */
const REMEMBERED_MAX = 10_000;

/**
 * `<root>/<tenant>/<session>.json` with `.bak`, `.tmp` and `.ended` beside it. Main is whole or absent, and while it is absent
 * bak is whole: a snapshot is written beside it, made durable, and then takes its name. Calls about one file come one at a time.
 */
export class FileStateStorage implements StateStorage {
  private readonly queue = new SerialChain();
  /** Mains that this process has written or read whole, and whose they are: they may take the place of bak. */
  private readonly whole = new Map<string, string>();

  constructor(
    private readonly root: string,
    private readonly isSecret: SecretTest,
    private readonly files: SnapshotFiles = new DiskFiles(),
  ) {}

  async loadOrCreate(key: SessionKey, initialMetadata?: JsonObject): Promise<LoadedSnapshot> {
    try {
      return await this.load(key);
    } catch (error) {
      if (!(error instanceof SessionError && error.code === 'session_not_found')) throw error;
      return newSnapshot(key, await this.isMarked(this.pathsOf(key)), initialMetadata);
    }
  }

  async load(key: SessionKey): Promise<LoadedSnapshot> {
    const paths = this.pathsOf(key);
    return this.queue.run(paths.main, async () => {
      const { snapshot, loadSource } = await chooseSnapshot(key, await this.textAt(paths.main), () =>
        this.textAt(paths.bak),
      );
      if (loadSource === 'main') this.remember(paths, key);
      else this.whole.delete(paths.main);
      const notResumable = await this.isMarked(paths);
      return { snapshot: markedAs(snapshot, notResumable), loadSource, notResumable };
    });
  }

  async save(snapshot: SessionSnapshot): Promise<void> {
    const paths = this.pathsOf(snapshot);
    const encoded = encodeSnapshot(snapshot, this.isSecret);
    if (!encoded.ok) throw encodeRefused(snapshot, encoded.problem);
    await this.queue.run(paths.main, async () => {
      try {
        await this.replace(paths, snapshot, encoded.value);
        this.remember(paths, snapshot);
      } catch (error) {
        this.whole.delete(paths.main);
        await this.files.remove(paths.tmp).catch(() => undefined);
        throw error instanceof SessionError ? error : saveFailed(snapshot, error);
      }
    });
  }

  async delete(key: SessionKey): Promise<void> {
    const paths = this.pathsOf(key);
    await this.queue.run(paths.main, async () => {
      if (!(await this.files.exists(paths.directory)) || (await this.isForeign(paths, key))) return;
      this.whole.delete(paths.main);
      // Bak first: a deletion that is interrupted leaves the session or nothing, never an older session.
      for (const file of [paths.bak, paths.tmp, paths.main, paths.ended]) await this.files.remove(file);
      await this.files.syncDirectory(paths.directory);
    });
  }

  async exists(key: SessionKey): Promise<boolean> {
    const { main, bak } = this.pathsOf(key);
    return (await this.files.exists(main)) || this.files.exists(bak);
  }

  async markNotResumable(key: SessionKey): Promise<void> {
    const paths = this.pathsOf(key);
    const { main, directory, ended } = paths;
    await this.queue.run(main, async () => {
      if (await this.isForeign(paths, key)) throw collision(key);
      try {
        await this.files.makeDirectory(directory);
        await this.files.write(ended, MARK);
        await this.files.sync(ended);
        await this.files.syncDirectory(directory);
      } catch (error) {
        throw saveFailed(key, error);
      }
    });
  }

  async close(): Promise<void> {
    await this.queue.idle();
  }

  /** Rejects with `invalid_session_id` before anything else happens; there is no other way to a path. */
  private pathsOf({ tenant, sessionId }: SessionKey): Paths {
    const problem = sessionIdProblem(sessionId);
    if (problem !== null) throw new SessionError('invalid_session_id', problem);
    const directory = path.join(this.root, safeTenantName(tenant));
    const main = path.join(directory, `${safeSessionName(sessionId)}.json`);
    return { directory, main, bak: `${main}.bak`, tmp: `${main}.tmp`, ended: `${main}.ended` };
  }

  private async replace(paths: Paths, key: SessionKey, content: string): Promise<void> {
    const { files } = this;
    await files.makeDirectory(paths.directory);
    await files.write(paths.tmp, content);
    await files.sync(paths.tmp);
    if (await this.mayBecomeBak(paths, key)) {
      await files.remove(paths.bak);
      await files.rename(paths.main, paths.bak);
    }
    await files.rename(paths.tmp, paths.main);
    await files.syncDirectory(paths.directory);
    await files.remove(paths.ended);
  }

  /**
   * Whether main is there and worth keeping. A damaged one must not push a whole bak out. One of a newer version or of another
   * session is not replaced at all: that rejects.
   */
  private async mayBecomeBak(paths: Paths, key: SessionKey): Promise<boolean> {
    if (this.whole.get(paths.main) === key.sessionId) return this.files.exists(paths.main);
    if (await this.isForeign(paths, key)) throw collision(key);
    const isMainWhole = isWhole(await this.textAt(paths.main), key);
    if (!isMainWhole) isWhole(await this.textAt(paths.bak), key);
    return isMainWhole;
  }

  /** Whether the files are those of a session with the same name and another id. */
  private async isForeign(paths: Paths, key: SessionKey): Promise<boolean> {
    if (this.whole.get(paths.main) === key.sessionId) return false;
    try {
      await chooseSnapshot(key, await this.textAt(paths.main), () => this.textAt(paths.bak));
      return false;
    } catch (error) {
      return error instanceof SessionError && error.code === 'session_identity_mismatch';
    }
  }

  private remember({ main }: Paths, { sessionId }: SessionKey): void {
    if (this.whole.size >= REMEMBERED_MAX) this.whole.clear();
    this.whole.set(main, sessionId);
  }

  private async textAt(file: string): Promise<StoredText> {
    try {
      const text = await this.files.read(file);
      return text === null ? { kind: 'missing' } : { kind: 'text', text };
    } catch (cause) {
      return { kind: 'unreadable', cause };
    }
  }

  /** A mark that cannot be looked at counts: what cannot be shown to be resumable is not resumed. */
  private async isMarked({ ended }: Paths): Promise<boolean> {
    return this.files.exists(ended).catch(() => true);
  }
}

function collision({ sessionId }: SessionKey): SessionError {
  const message = `Session ${shownSessionId(sessionId)} would touch the snapshot of another session.`;
  return new SessionError('session_id_collision', message);
}
