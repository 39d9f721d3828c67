import * as zlib from 'node:zlib';
import { FrameCodec, type Compression } from './frame-codec.js';

/** What Node has of zstd from 22.15 and 23.8 on; other runtimes lack all of it. */
interface Zstd {
  zstdCompress(
    text: Buffer,
    options: { readonly params: Readonly<Record<number, number>> },
    done: (error: Error | null, bytes: Buffer) => void,
  ): void;
  zstdDecompressSync(bytes: Buffer, options?: { readonly finishFlush: number }): Buffer;
  readonly constants: {
    readonly ZSTD_c_checksumFlag: number;
    readonly ZSTD_c_windowLog: number;
    readonly ZSTD_e_flush: number;
  };
}

/** Blocks of 32 KiB: what a frame that was cut still gives is whole blocks. */
const WINDOW_LOG = 15;

/** A skippable frame (RFC 8878, 3.1.2) of 12 bytes, which hold the numbers of the head, then a frame; `zstd -d` reads a file of such pairs. */
const OPENING = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 12, 0, 0, 0]);

const compressionOf = ({ zstdCompress, zstdDecompressSync, constants }: Zstd): Compression => ({
  opening: OPENING,
  compress: (text) =>
    new Promise((resolve, reject) => {
      const params = { [constants.ZSTD_c_checksumFlag]: 1, [constants.ZSTD_c_windowLog]: WINDOW_LOG };
      zstdCompress(text, { params }, (error, bytes) => (error === null ? resolve(bytes) : reject(error)));
    }),
  decompress: (body) => zstdDecompressSync(body),
  salvage: (part) => zstdDecompressSync(part, { finishFlush: constants.ZSTD_e_flush }),
});

const hasZstd = (runtime: object): runtime is Zstd => 'zstdCompress' in runtime && 'zstdDecompressSync' in runtime;

/** Null: this runtime has no zstd. */
export const ZSTD_FRAMES: FrameCodec | null = hasZstd(zlib) ? new FrameCodec(compressionOf(zlib)) : null;

/** Whether a file of such frames may begin like this, in a runtime with zstd or without. */
export const beginsZstd = (bytes: Buffer): boolean =>
  bytes.length >= 2 && bytes.subarray(0, 2).equals(OPENING.subarray(0, 2));
