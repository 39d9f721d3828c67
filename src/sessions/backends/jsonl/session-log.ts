import { CountersignError } from '../../../domain/errors/countersign-error.js';
import type { SessionKey } from '../../../domain/session/session-key.js';
import type { SessionHeader, SessionRow } from '../../../domain/session/session-row.js';
import type { AppendOptions } from '../persistence-backend.js';
import { rowsAfter } from '../whole-batch.js';
import { emptyEnd, endOf } from './confirmed-end.js';
import { copied, replaceLog, type LogSurroundings } from './draft.js';
import type { LogPath } from './log-path.js';
import { LogReading, type ReadLog } from './log-reading.js';
import type { TornFile } from './scan-request.js';
import { LogWriting } from './log-writing.js';
import { ownedElsewhere } from './owner-fence.js';
import type { LogCodec } from './row-lines.js';
import { openForReading } from './scan-file.js';

export interface LogSettings extends LogSurroundings {
  /** Of new files; one that is there keeps its own. */
  readonly codec: LogCodec;
  /** The process before this one may still have files of ours open. */
  readonly tookOver: boolean;
}

/** The log of one session. One call at a time. */
export class SessionLog {
  private readonly reading: LogReading;
  private readonly writing: LogWriting;
  /** No other process has the file open for writing. */
  private isApart: boolean;
  /** Identity of the file whose every byte this process knows to be on the disk. */
  private renewed: string | null = null;
  private known: ReadLog | null = null;

  constructor(
    private readonly settings: LogSettings,
    private readonly path: LogPath,
    key: SessionKey,
  ) {
    this.writing = new LogWriting(settings, path, key);
    this.reading = new LogReading(settings.files, path.file, key, this.writing.sizeOf);
    this.isApart = !settings.tookOver;
  }

  get isOpen(): boolean {
    return this.writing.isOpen;
  }

  get isCertain(): boolean {
    return this.writing.isCertain;
  }

  async load(keepText = false): Promise<ReadLog | null> {
    await this.moveApart();
    const loaded = await this.reading.whole(keepText);
    this.known = loaded === null ? null : withoutRows(loaded);
    return loaded;
  }

  async suffix(fromSeq: number, limit: number): Promise<ReadLog | null> {
    await this.moveApart();
    return this.reading.suffix(fromSeq, limit);
  }

  async revision(): Promise<string | null> {
    await this.moveApart();
    return this.reading.revision();
  }

  /** Null: there is no log, and nothing that would have made one. */
  async append(header: SessionHeader, rows: readonly SessionRow[], options: AppendOptions): Promise<string | null> {
    if (!(await this.open())) {
      if (options.materialized) throw new Error('the log of the session is gone');
      if (rows.length === 0) return null;
      await this.create();
    }
    const fresh = await this.freshRows(rows);
    const { nextSeq, barrierSeq } = this.end();
    if (fresh.length === 0 && (!options.barrier || barrierSeq === nextSeq - 1)) return this.reading.revision();
    return this.write(header, fresh, options.barrier);
  }

  async repair(torn: TornFile | undefined, closers: readonly SessionRow[]): Promise<string> {
    await this.writing.settle();
    const found = await this.load();
    if (found === null) throw new CountersignError('session_not_found', 'there is no log to repair');
    const now = found.scanned.torn;
    if (now !== undefined && now.offset !== torn?.offset) {
      throw new CountersignError('revision_stale', 'the log has changed since it was read');
    }
    await this.openFound(found);
    return this.write(found.scanned.header, await this.freshRows(closers), true);
  }

  async remove(): Promise<void> {
    await this.assertNotAnothers();
    await this.writing.release();
    const { files, fence } = this.settings;
    await fence.assertOurs();
    await files.remove(this.path.file);
    await files.remove(this.path.draft);
    if ((await files.names(this.path.directory)).length > 0) await files.syncDirectory(this.path.directory);
  }

  release(): Promise<void> {
    return this.writing.release();
  }

  /** A log that is damaged may be removed; that of another session which has the same name may not. */
  private async assertNotAnothers(): Promise<void> {
    try {
      await this.reading.header();
    } catch (error) {
      if (error instanceof CountersignError && error.code !== 'session_identity_mismatch') return;
      throw error;
    }
  }

  /** False: there is no log. */
  private async open(): Promise<boolean> {
    if (this.writing.isOpen && this.writing.end !== null) return true;
    await this.moveApart();
    const end = this.writing.end;
    if (end !== null && end.identity === this.renewed && (await this.writing.open(end))) return true;
    const known = this.known;
    if (known !== null && known.scanned.torn === undefined && (await this.writing.open(endOf(known)))) {
      await this.renew();
      return true;
    }
    const found = await this.reading.whole();
    if (found === null) return false;
    await this.openFound(found);
    return true;
  }

  /** Opens what was read, and takes away what is torn: nothing is ever appended behind it. */
  private async openFound(found: ReadLog): Promise<void> {
    if (!(await this.writing.open(endOf(found)))) throw ownedElsewhere();
    const { torn, nextSeq } = found.scanned;
    if (torn === undefined) return this.renew();
    const whole = { ...endOf(found), size: torn.offset, nextSeq: nextSeq - torn.recovered.length };
    if (torn.recovered.length === 0) {
      await this.writing.cut(whole);
      return this.renew();
    }
    const rewritten = joined(this.writing.prefix(torn.offset), this.writing.pieces(null, torn.recovered, null));
    await this.writing.replace(rewritten, { ...whole, nextSeq });
    this.renewed = this.end().identity;
  }

  private async renew(): Promise<void> {
    const { identity } = this.end();
    if (this.renewed === identity) return;
    try {
      await this.writing.renew();
    } catch (error) {
      // Opened and read again before anything is written behind what may not be on the disk.
      this.writing.end = null;
      throw error;
    }
    this.renewed = identity;
  }

  private async create(): Promise<void> {
    const { codec } = this.settings;
    if (!(await this.writing.create(codec))) {
      // Another name for the same file, or the beginning of a header: `reading` refuses the first, the second was never a log.
      if ((await this.reading.whole()) !== null) throw ownedElsewhere();
      await this.writing.replace(joined(), emptyEnd('', codec));
    }
    this.renewed = this.end().identity;
  }

  private async write(header: SessionHeader, rows: readonly SessionRow[], barrier: boolean): Promise<string> {
    this.known = null;
    const revision = await this.writing.append(header, rows, barrier);
    this.renewed = this.end().identity;
    return revision;
  }

  private async freshRows(rows: readonly SessionRow[]): Promise<readonly SessionRow[]> {
    const { nextSeq } = this.end();
    const first = rows[0]?.seq ?? nextSeq;
    if (first >= nextSeq) return rowsAfter(nextSeq, rows, []);
    const stored = await this.reading.suffix(first, Math.min(rows.length, nextSeq - first));
    return rowsAfter(nextSeq, rows, stored?.scanned.rows ?? []);
  }

  /** After a take-over the first call leaves the file to whoever still has it open, and goes on with a copy. */
  private async moveApart(): Promise<void> {
    if (this.isApart) return;
    const source = await openForReading(this.settings.files, this.path.file);
    if (source !== null) {
      try {
        const { size } = await source.state();
        const copy = await replaceLog(this.settings, this.path, copied(source, 0, size));
        this.renewed = (await copy.state()).identity;
        await copy.close();
      } finally {
        await source.close();
      }
    }
    this.isApart = true;
  }

  private end(): NonNullable<LogWriting['end']> {
    if (this.writing.end === null) throw new Error('the end of the log is not known');
    return this.writing.end;
  }
}

const withoutRows = (log: ReadLog): ReadLog => ({ ...log, scanned: { ...log.scanned, rows: [], texts: [] } });

async function* joined(...parts: readonly AsyncIterable<Buffer>[]): AsyncGenerator<Buffer> {
  for (const part of parts) yield* part;
}
