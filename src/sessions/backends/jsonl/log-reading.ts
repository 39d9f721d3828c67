import type { SessionKey } from '../../../domain/session/session-key.js';
import type { SessionHeader } from '../../../domain/session/session-row.js';
import type { ScanStart, ScanWindow } from './line-reader.js';
import { WHOLE_LOG } from './line-reader.js';
import type { LogFile, LogFiles } from './log-files.js';
import type { ScannedLog } from './log-scan.js';
import { openForReading, revisionOfFile, scanFile } from './scan-file.js';

export interface ReadLog {
  readonly scanned: ScannedLog;
  readonly identity: string;
  readonly size: number;
  readonly revision: string;
}

/** Bytes of the file with this identity that count; the rest is what a failed write has left. */
export type SizeOf = (identity: string, size: number) => number;

/** Reads the log of one session, on handles of its own. */
export class LogReading {
  /** Where the last suffix was found, so that pages read one after the other do not read the log from its beginning. */
  private place: (ScanStart & { readonly identity: string }) | null = null;

  constructor(
    private readonly files: LogFiles,
    private readonly path: string,
    private readonly key: SessionKey,
    private readonly sizeOf: SizeOf,
  ) {}

  /** Null: there is no log, or one whose header was never finished. */
  whole(keepText = false): Promise<ReadLog | null> {
    return this.scan(keepText ? { ...WHOLE_LOG, keepText } : WHOLE_LOG);
  }

  suffix(fromSeq: number, limit: number): Promise<ReadLog | null> {
    return this.scan({ fromSeq, limit });
  }

  revision(): Promise<string | null> {
    return this.use((file, identity, size) => revisionOfFile(file, identity, size));
  }

  /** Whoever's log it is. */
  header(): Promise<SessionHeader | null> {
    return this.use(async (file, _, size) => {
      return (await scanFile(file, size, this.key, { fromSeq: 0, limit: 0 }))?.header ?? null;
    });
  }

  private scan(window: ScanWindow): Promise<ReadLog | null> {
    return this.use(async (file, identity, size) => {
      const known = this.place;
      const isUsable = known?.identity === identity && known.offset <= size && known.nextSeq <= window.fromSeq;
      const scanned = await scanFile(file, size, this.key, window, isUsable ? known : undefined);
      if (scanned === null) return null;
      const { header, codec, place } = scanned;
      this.place = place.offset === 0 ? null : { identity, header, codec, ...place };
      return { scanned, identity, size, revision: await revisionOfFile(file, identity, size) };
    });
  }

  private async use<T>(read: (file: LogFile, identity: string, size: number) => Promise<T>): Promise<T | null> {
    const file = await openForReading(this.files, this.path);
    if (file === null) return null;
    try {
      const { identity, size } = await file.state();
      return await read(file, identity, this.sizeOf(identity, size));
    } finally {
      await file.close();
    }
  }
}
