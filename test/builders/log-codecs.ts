import { ZSTD_FRAMES } from '../../src/sessions/backends/jsonl/zstd-frame.js';

/** Logs cannot be compressed with zstd here: that needs Node 22.15 or 23.8. */
export const lacksZstd = ZSTD_FRAMES === null;

/** The codecs of this runtime whose files are frames. */
export const FRAMED_CODECS: readonly ('gzip' | 'zstd')[] = lacksZstd ? ['gzip'] : ['gzip', 'zstd'];

/** Every codec of this runtime. */
export const CODECS = ['none', ...FRAMED_CODECS] as const;

/** For a suite that would try all codecs: says aloud what is left out. */
export function announceMissingZstd(suite: string): void {
  if (lacksZstd) process.stderr.write(`SKIPPED: ${suite}: Node ${process.version} has no zstd\n`);
}
