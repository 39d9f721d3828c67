import type { ReadLog } from './log-reading.js';
import type { LogCodec } from './row-lines.js';

/** Where the log ends on the disk, as far as this process knows for certain. */
export interface ConfirmedEnd {
  readonly identity: string;
  readonly size: number;
  readonly nextSeq: number;
  readonly barrierSeq: number;
  /** Where the last promise ends: what lies behind it, the process that wrote it may have failed to sync. */
  readonly barrierEnd: number;
  readonly codec: LogCodec;
}

export function endOf({ scanned, identity, size }: ReadLog): ConfirmedEnd {
  const { nextSeq, barrierSeq, barrierEnd, codec } = scanned;
  return { identity, size, nextSeq, barrierSeq, barrierEnd, codec };
}

export function emptyEnd(identity: string, codec: LogCodec): ConfirmedEnd {
  return { identity, size: 0, nextSeq: 0, barrierSeq: -1, barrierEnd: 0, codec };
}
