import { CountersignError } from '../../../domain/errors/countersign-error.js';
import type { FrameCodec } from './frame-codec.js';
import { GZIP_FRAMES } from './gzip-frame.js';
import type { LogCodec } from './row-lines.js';
import { beginsZstd, ZSTD_FRAMES } from './zstd-frame.js';

/** What a frame of any program begins with that is compressed with zstd and has no head of ours. */
const FOREIGN_ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** The frames of a codec; null for plain lines. Undefined: this runtime has no such codec. */
export function framesOf(codec: LogCodec): FrameCodec | null | undefined {
  switch (codec) {
    case 'none':
      return null;
    case 'gzip':
      return GZIP_FRAMES;
    case 'zstd':
      return ZSTD_FRAMES ?? undefined;
  }
}

/** What a file that begins like this is made of; null: lines. Throws `session_format_unsupported`. */
export function framesIn(bytes: Buffer): FrameCodec | null {
  if (GZIP_FRAMES.begins(bytes)) return GZIP_FRAMES;
  if (FOREIGN_ZSTD.equals(bytes.subarray(0, FOREIGN_ZSTD.length)))
    throw unsupported('in a way this program does not know');
  if (!beginsZstd(bytes)) return null;
  if (ZSTD_FRAMES === null) throw unsupported('with zstd, which this runtime has not');
  return ZSTD_FRAMES;
}

const unsupported = (how: string): CountersignError =>
  new CountersignError('session_format_unsupported', `the log is compressed ${how}`);
