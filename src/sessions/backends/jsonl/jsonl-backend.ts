import { resolve } from 'node:path';
import { CountersignError } from '../../../domain/errors/countersign-error.js';
import type { SessionKey } from '../../../domain/session/session-key.js';
import type { SessionHeader, SessionRow } from '../../../domain/session/session-row.js';
import type { AppendOptions, PersistenceBackend, StoredLog } from '../persistence-backend.js';
import { assertWholeBatch } from '../whole-batch.js';
import { framesOf } from './file-frames.js';
import { sessionIdOfFile } from './header-of-file.js';
import type { LogFiles } from './log-files.js';
import { LOG_SUFFIX, tenantDirectory } from './log-path.js';
import type { TornFile } from './scan-request.js';
import { NODE_LOG_FILES } from './node-log-files.js';
import { OpenLogs } from './open-logs.js';
import { OwnerFence } from './owner-fence.js';
import type { LogCodec } from './row-lines.js';

export interface JsonlOptions {
  /** Resolved once. */
  readonly root: string;
  /** Of new files. Refused with `invalid_settings` where the runtime has no such codec. */
  readonly codec: LogCodec;
  /** Of this process; every later process of the data directory has a higher one. */
  readonly instanceEpoch: number;
  /** The process before this one may still run: its files are left to it. */
  readonly tookOver: boolean;
  /** Files kept open. */
  readonly openMax?: number;
}

const OPEN_MAX = 64;

/** One append-only file per session, `<root>/<tenant>/<session>.jsonl`: a line per row, each with its checksum. */
export class JsonlBackend implements PersistenceBackend<TornFile> {
  readonly capabilities = { rawArtifact: true, indexedSuffix: false, atomicRepair: false };

  private constructor(
    private readonly root: string,
    private readonly files: LogFiles,
    private readonly logs: OpenLogs,
  ) {}

  /** Says durably whose the root is, making it where it is missing. Rejects with `session_owned_elsewhere`, `invalid_settings`. */
  static async open(options: JsonlOptions, files: LogFiles = NODE_LOG_FILES): Promise<JsonlBackend> {
    const { codec, instanceEpoch, tookOver, openMax } = options;
    if (framesOf(codec) === undefined) {
      throw new CountersignError(
        'invalid_settings',
        `sessions.codec: this runtime has no ${codec}; use none or gzip, or a newer Node`,
      );
    }
    const root = resolve(options.root);
    const fence = new OwnerFence(files, root, instanceEpoch);
    await fence.take();
    return new JsonlBackend(root, files, new OpenLogs({ files, fence, codec, tookOver }, root, openMax ?? OPEN_MAX));
  }

  loadStored(key: SessionKey): Promise<StoredLog<TornFile> | null> {
    return this.logs.use(key, async (log) => {
      const loaded = await log.load();
      if (loaded === null) return null;
      const { scanned, revision } = loaded;
      const { header, rows, barrierSeq, torn } = scanned;
      return { header, rows, revision, barrierSeq, ...(torn === undefined ? {} : { torn }) };
    });
  }

  loadStoredFrom(
    key: SessionKey,
    fromSeq: number,
    limit: number,
  ): Promise<{ readonly rows: readonly SessionRow[]; readonly revision: string }> {
    return this.logs.use(key, async (log) => {
      const found = await log.suffix(fromSeq, limit);
      if (found === null) throw notFound();
      return { rows: found.scanned.rows.slice(0, limit), revision: found.revision };
    });
  }

  readStoredRevision(key: SessionKey): Promise<string | null> {
    return this.logs.use(key, (log) => log.revision());
  }

  appendBatch(
    key: SessionKey,
    header: SessionHeader,
    rows: readonly SessionRow[],
    options: AppendOptions,
  ): Promise<{ readonly revision: string }> {
    return this.logs.use(key, async (log) => {
      assertWholeBatch(rows);
      try {
        return { revision: (await log.append(header, rows, options)) ?? '' };
      } catch (error) {
        throw options.materialized ? error : asCollision(error);
      }
    });
  }

  commitRepair(
    key: SessionKey,
    torn: TornFile | undefined,
    closers: readonly SessionRow[],
  ): Promise<{ readonly revision: string }> {
    return this.logs.use(key, async (log) => {
      assertWholeBatch(closers);
      return { revision: await log.repair(torn, closers) };
    });
  }

  readRaw(key: SessionKey): Promise<string> {
    return this.logs.use(key, async (log) => {
      const found = await log.load(true);
      if (found === null) throw notFound();
      return found.scanned.texts.map((line) => `${line}\n`).join('');
    });
  }

  /** A file whose header cannot be read is listed under its name: loading it says what is wrong. */
  async list(tenant: string): Promise<readonly string[]> {
    const directory = tenantDirectory(this.root, tenant);
    const ids: string[] = [];
    for (const name of await this.files.names(directory)) {
      if (!name.endsWith(LOG_SUFFIX)) continue;
      const sessionId = await sessionIdOfFile(this.files, directory, name);
      if (sessionId !== null) ids.push(sessionId);
    }
    return ids.sort();
  }

  delete(key: SessionKey): Promise<void> {
    return this.logs.discard(key);
  }

  close(): Promise<void> {
    return this.logs.close();
  }
}

const notFound = (): CountersignError => new CountersignError('session_not_found', 'there is no log of this session');

/** The first write of a session has met the log of another one. */
function asCollision(error: unknown): unknown {
  if (!(error instanceof CountersignError) || error.code !== 'session_identity_mismatch') return error;
  return new CountersignError('session_id_collision', 'another session has a log of this name');
}
