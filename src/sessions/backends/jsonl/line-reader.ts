import { CountersignError } from '../../../domain/errors/countersign-error.js';
import { decodeRow } from '../../../domain/session/row-codec.js';
import { SESSION_FORMAT_VERSION } from '../../../domain/session/session-catalogue.js';
import type { SessionKey } from '../../../domain/session/session-key.js';
import type { SessionHeader, SessionRow } from '../../../domain/session/session-row.js';
import { GroupProgress } from '../group-progress.js';
import { unpackedDeltas } from './packed-deltas.js';
import { LOG_CODECS, type LogCodec } from './row-lines.js';
import { HEADER_SEED, lineSeed, openedLine } from './sealed-line.js';

/** What of a log is wanted; everything before it is checked all the same. */
export interface ScanWindow {
  readonly fromSeq: number;
  /** Reading ends when so many rows, and the group of the last, are there. 0: with the header. */
  readonly limit: number;
  readonly keepText?: boolean;
}

/** Between two lines, or two frames. */
export interface ScanPlace {
  readonly offset: number;
  readonly nextSeq: number;
}

/** Where an earlier scan of the same file has been, and what it had read first. */
export interface ScanStart extends ScanPlace {
  readonly header: SessionHeader;
  readonly codec: LogCodec;
}

export const WHOLE_LOG: ScanWindow = { fromSeq: 0, limit: Number.POSITIVE_INFINITY };

/** Understands the lines of one log in order, and says `session_log_corrupt` at whatever no crash can have left behind. */
export class LineReader {
  header: SessionHeader | null = null;
  codec: LogCodec = 'none';
  rows: SessionRow[] = [];
  nextSeq = 0;
  barrierSeq = -1;
  /** Where the line of the last barrier ends. */
  barrierEnd = 0;
  /** Where the group that has not ended begins, or null. */
  groupOffset: number | null = null;
  readonly texts: string[] = [];
  /** The last place seen where a later scan may begin: no group is open there. */
  place: ScanPlace = { offset: 0, nextSeq: 0 };
  private readonly groups = new GroupProgress();
  private readonly eventIds = new Set<string>();
  private readonly seed: number;

  constructor(
    private readonly key: SessionKey,
    private readonly window: ScanWindow,
    start?: ScanStart,
  ) {
    this.seed = lineSeed(key);
    if (start === undefined) return;
    this.header = start.header;
    this.codec = start.codec;
    this.nextSeq = start.nextSeq;
    this.place = start;
  }

  /** A line or a frame begins here. */
  beginAt(offset: number): void {
    if (this.groupOffset === null) this.place = { offset, nextSeq: this.nextSeq };
  }

  get isDone(): boolean {
    if (this.header === null || this.groupOffset !== null) return false;
    return this.window.limit === 0 || this.rows.length >= this.window.limit;
  }

  /** Whether the bytes are a line as it was written. */
  isSealed(bytes: Buffer, start: number, end: number): boolean {
    return openedLine(this.seed, bytes, start, end) !== null;
  }

  /** False when the line, whose end is not part of it, is not what was written. `offset` is that of the line in the file. */
  take(bytes: Buffer, start: number, end: number, offset: number): boolean {
    const text = openedLine(this.header === null ? HEADER_SEED : this.seed, bytes, start, end);
    if (this.header === null) return this.takeHeader(text, bytes, start, end, offset);
    if (text === null) return false;
    if (this.window.keepText === true) this.texts.push(bytes.toString('utf8', start, end));
    const kind = KIND.exec(text)?.[1];
    if (kind === 'b') this.takeBarrier(text, offset + end - start + 1, offset);
    else if (kind === 'p') this.takePacked(text, offset);
    else this.takeRow(text, offset);
    return true;
  }

  /** Forgets the rows of the group that has not ended. */
  dropOpenGroup(): void {
    const from = this.groups.openFrom;
    if (from === null) return;
    this.rows = this.rows.filter(({ seq }) => seq < from);
    this.nextSeq = from;
  }

  /** Never holds what the log says. */
  corrupt(what: string, offset: number): CountersignError {
    return new CountersignError('session_log_corrupt', `${what} at row ${this.nextSeq}, byte ${offset}`);
  }

  private takeHeader(text: string | null, bytes: Buffer, start: number, end: number, offset: number): boolean {
    const found = parsedObject(text ?? bytes.toString('utf8', start, end));
    // Before anything else of it is believed: what another version seals in another way is no damage.
    if (found?.['k'] === 'h' && typeof found['formatVersion'] === 'number') {
      const { formatVersion, codec } = found;
      if (formatVersion !== SESSION_FORMAT_VERSION) {
        throw unsupported(`the log has format ${formatVersion}; this program knows ${SESSION_FORMAT_VERSION}`);
      }
      if (text !== null && !isCodec(codec))
        throw unsupported('the log is compressed in a way this program does not know');
    }
    if (text === null) return false;
    const { k, codec, ...header } = found ?? {};
    if (k !== 'h' || !isCodec(codec)) throw this.corrupt('no header', offset);
    if (header['tenant'] !== this.key.tenant || header['sessionId'] !== this.key.sessionId) {
      throw new CountersignError('session_identity_mismatch', 'the log is that of another session');
    }
    if (this.window.keepText === true) this.texts.push(bytes.toString('utf8', start, end));
    this.header = header as unknown as SessionHeader;
    this.codec = codec;
    return true;
  }

  private takeBarrier(text: string, end: number, offset: number): void {
    const upTo = parsedObject(text)?.['upTo'];
    if (upTo !== this.nextSeq - 1 || this.groupOffset !== null)
      throw this.corrupt('rows missing before a barrier', offset);
    this.barrierSeq = upTo;
    this.barrierEnd = end;
  }

  private takePacked(text: string, offset: number): void {
    const events = unpackedDeltas(text);
    if (events === null) throw this.corrupt('a packed row that is none', offset);
    for (const event of events) this.add(event, offset);
  }

  private takeRow(text: string, offset: number): void {
    const decoded = decodeRow(text);
    if (decoded.ok) return this.add(decoded.row, offset);
    if (decoded.problem === 'unknown_kind') throw unsupported('the log has a kind of row this program does not know');
    throw this.corrupt('a row that is none', offset);
  }

  private add(row: SessionRow, offset: number): void {
    if (row.seq !== this.nextSeq) throw this.corrupt(`a row numbered ${row.seq}`, offset);
    if (this.eventIds.has(row.eventId)) throw this.corrupt('an event for the second time', offset);
    if (!this.groups.take(row)) throw this.corrupt('an incomplete group', offset);
    this.eventIds.add(row.eventId);
    this.groupOffset = this.groups.openFrom === null ? null : (this.groupOffset ?? offset);
    this.nextSeq += 1;
    if (row.seq >= this.window.fromSeq) this.rows.push(row);
  }
}

const KIND = /^\{"k":"([a-z]+)"/;

const isCodec = (codec: unknown): codec is LogCodec => (LOG_CODECS as readonly unknown[]).includes(codec);

const unsupported = (message: string): CountersignError => new CountersignError('session_format_unsupported', message);

function parsedObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
