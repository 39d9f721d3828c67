import { dirname } from 'node:path';
import type { SessionKey } from '../../../domain/session/session-key.js';
import type { SessionHeader, SessionRow } from '../../../domain/session/session-row.js';
import { emptyEnd, type ConfirmedEnd } from './confirmed-end.js';
import { copied, replaceLog, type LogSurroundings } from './draft.js';
import { systemCode, type LogFile } from './log-files.js';
import type { LogPath } from './log-path.js';
import { framed, logPieces } from './log-pieces.js';
import { ownedElsewhere } from './owner-fence.js';
import { headerLine, rowLines, type LogCodec } from './row-lines.js';
import { revisionOf } from './scan-file.js';
import { lineSeed } from './sealed-line.js';

/** Why the file may differ from its confirmed end: a write has failed, or a sync has and nobody knows what the disk holds. */
type Doubt = 'none' | 'unwritten' | 'unsynced';

/** Writes the file of one log. Knows where it ends; what it says is read elsewhere. One call at a time. */
export class LogWriting {
  end: ConfirmedEnd | null = null;
  private file: LogFile | null = null;
  private doubt: Doubt = 'none';
  /** The file was made here and its name is not on the disk yet. */
  private isUnnamed = false;
  private readonly seed: number;

  constructor(
    private readonly around: LogSurroundings,
    private readonly path: LogPath,
    key: SessionKey,
  ) {
    this.seed = lineSeed(key);
  }

  get isOpen(): boolean {
    return this.file !== null;
  }

  /** Whether nothing is lost when it is forgotten what is known of the file. */
  get isCertain(): boolean {
    return this.doubt === 'none' && !this.isUnnamed;
  }

  /** How many bytes of the file count. */
  readonly sizeOf = (identity: string, size: number): number =>
    this.doubt !== 'none' && this.end?.identity === identity ? Math.min(size, this.end.size) : size;

  /** Opens the file that was found to end there. False: another one has its name now, or it has another length. */
  async open(end: ConfirmedEnd): Promise<boolean> {
    await this.release();
    const file = await this.around.files.open(this.path.file, 'write');
    try {
      // A file opened before a take-over is not the one that is read after it.
      await this.around.fence.assertOurs();
      const { identity, size } = await file.state();
      if (identity !== end.identity || size !== end.size) {
        await file.close();
        return false;
      }
    } catch (error) {
      await file.close();
      throw error;
    }
    this.file = file;
    this.end = end;
    this.doubt = 'none';
    return true;
  }

  /**
   * What an earlier process has left behind the last promise is written again and synced: its own sync may have failed, and then the
   * system shows what the disk does not hold.
   */
  async renew(): Promise<void> {
    const { file, end } = this.opened();
    if (end.barrierEnd === end.size) return;
    let at = end.barrierEnd;
    for await (const bytes of copied(file, at, end.size)) {
      await file.write(bytes, at);
      at += bytes.length;
    }
    await file.sync();
  }

  /** False: there is a file of that name. */
  async create(codec: LogCodec): Promise<boolean> {
    const { files, fence } = this.around;
    await files.makeDirectory(this.path.directory);
    try {
      this.file = await files.open(this.path.file, 'new');
    } catch (error) {
      if (systemCode(error) === 'EEXIST') return false;
      throw error;
    }
    await fence.assertOurs();
    this.end = emptyEnd((await this.file.state()).identity, codec);
    this.isUnnamed = true;
    return true;
  }

  /** A new file in the place of what is there. */
  async replace(pieces: AsyncIterable<Buffer>, end: ConfirmedEnd): Promise<void> {
    const file = await this.replaced(pieces);
    await this.release();
    this.file = file;
    const { identity, size } = await file.state();
    this.end = { ...end, identity, size };
    this.doubt = 'none';
    this.isUnnamed = false;
  }

  /** Forgets what a failed write has left, and the handle. */
  async settle(): Promise<void> {
    if (this.file !== null && this.doubt !== 'none') await this.clear();
    await this.release();
  }

  /** Appends at the confirmed end; answers the revision once everything is on the disk. Rejects with the end where it was. */
  async append(header: SessionHeader, rows: readonly SessionRow[], barrier: boolean): Promise<string> {
    await this.clear();
    const { file, end } = this.opened();
    const nextSeq = end.nextSeq + rows.length;
    const barrierSeq = barrier ? nextSeq - 1 : end.barrierSeq;
    this.doubt = 'unwritten';
    let size = end.size;
    let last: Buffer = Buffer.alloc(0);
    for await (const bytes of this.pieces(header, rows, barrier ? barrierSeq : null)) {
      await file.write(bytes, size);
      size += bytes.length;
      last = bytes;
    }
    this.doubt = 'unsynced';
    await file.sync();
    if (this.isUnnamed) await this.nameDurably();
    await this.around.fence.assertOurs();
    this.doubt = 'none';
    this.end = { ...end, size, nextSeq, barrierSeq, barrierEnd: barrier ? size : end.barrierEnd };
    return revisionOf(end.identity, size, last);
  }

  /** Everything behind `size` goes, durably. */
  async cut(end: ConfirmedEnd): Promise<void> {
    const { file } = this.opened();
    await file.truncate(end.size);
    await file.sync();
    this.end = end;
  }

  async *pieces(
    header: SessionHeader | null,
    rows: readonly SessionRow[],
    barrierSeq: number | null,
  ): AsyncGenerator<Buffer> {
    const { codec, size } = this.opened().end;
    if (size === 0 && header !== null) yield framed(Buffer.from(headerLine(header, codec)), codec);
    yield* logPieces(rowLines(rows, barrierSeq), this.seed, codec);
  }

  /** The bytes of the open file up to `size`. */
  prefix(size: number): AsyncGenerator<Buffer> {
    return copied(this.opened().file, 0, size);
  }

  async release(): Promise<void> {
    const { file } = this;
    this.file = null;
    await file?.close();
  }

  /** Leaves nothing behind the confirmed end that a write before this one has not brought to its end. */
  private async clear(): Promise<void> {
    const { file, end } = this.opened();
    switch (this.doubt) {
      case 'none': {
        const { size } = await file.state();
        if (size === end.size) return;
        this.end = null;
        throw ownedElsewhere();
      }
      case 'unwritten':
        await file.truncate(end.size);
        this.doubt = 'none';
        return;
      case 'unsynced':
        // The same file may answer a second sync with success although the first one has lost its pages.
        return this.replace(copied(file, 0, end.size), end);
    }
  }

  private async replaced(pieces: AsyncIterable<Buffer>): Promise<LogFile> {
    try {
      return await replaceLog(this.around, this.path, pieces);
    } catch (error) {
      // The name may be that of the new file already: what is open here is read once more before it is written to.
      if (this.doubt === 'none') this.end = null;
      throw error;
    }
  }

  private async nameDurably(): Promise<void> {
    const { files } = this.around;
    await files.syncDirectory(this.path.directory);
    await files.syncDirectory(dirname(this.path.directory));
    this.isUnnamed = false;
  }

  private opened(): { readonly file: LogFile; readonly end: ConfirmedEnd } {
    if (this.file === null || this.end === null) throw new Error('the log is not open');
    return { file: this.file, end: this.end };
  }
}
