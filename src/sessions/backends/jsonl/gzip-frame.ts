import { constants, crc32, deflateRaw, inflateRawSync } from 'node:zlib';
import { FrameCodec, type Compression } from './frame-codec.js';

/** CRC-32 and length of the text, as the format wants them. */
const TRAILER_BYTES = 8;
const NUMBER_BYTES = 4;

/**
 * A gzip member (RFC 1952) whose extra field holds the numbers of the head; `zcat` reads a file of such members. 0: 1f 8b 08 04,
 * time 0, flags 0, system 255; 10: length of the extra field, 16; 12: "Cs", 12; then the numbers.
 */
const GZIP: Compression = {
  opening: Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255, 16, 0, 0x43, 0x73, 12, 0]),
  compress: async (text) => {
    const deflated = await new Promise<Buffer>((resolve, reject) => {
      deflateRaw(text, (error, bytes) => (error === null ? resolve(bytes) : reject(error)));
    });
    const trailer = Buffer.alloc(TRAILER_BYTES);
    trailer.writeUInt32LE(crc32(text));
    trailer.writeUInt32LE(text.length % 2 ** 32, NUMBER_BYTES);
    return Buffer.concat([deflated, trailer]);
  },
  decompress: (body) => {
    const trailerAt = body.length - TRAILER_BYTES;
    const text = inflateRawSync(body.subarray(0, trailerAt));
    if (text.length % 2 ** 32 !== body.readUInt32LE(trailerAt + NUMBER_BYTES)) return null;
    return crc32(text) === body.readUInt32LE(trailerAt) ? text : null;
  },
  salvage: (part) => inflateRawSync(part, { finishFlush: constants.Z_SYNC_FLUSH }),
};

export const GZIP_FRAMES = new FrameCodec(GZIP);
