import { nextEncodingTurn } from '../encoding-turns.js';
import { framesOf } from './file-frames.js';
import { LineBuffer } from './line-buffer.js';
import type { LogCodec, LogLine } from './row-lines.js';

/** Bytes of one piece, about: what is encoded between two turns of the event loop, well under a millisecond. */
const PIECE_BYTES = 65_536;

/**
 * Lines as the bytes to append, piece by piece: each is written before the next is encoded, so a long batch never keeps the main thread.
 * Compressed, a piece is one frame and a group lies within one.
 */
export async function* logPieces(lines: Iterable<LogLine>, seed: number, codec: LogCodec): AsyncGenerator<Buffer> {
  const buffer = new LineBuffer(seed, PIECE_BYTES);
  let sinceTurn = 0;
  for (const { json, mayEnd } of lines) {
    buffer.add(json);
    sinceTurn += json.length;
    if (sinceTurn < PIECE_BYTES) continue;
    sinceTurn = 0;
    if (codec === 'none' || mayEnd) yield await framed(buffer.take(), codec);
    await nextEncodingTurn();
  }
  if (buffer.size > 0) yield await framed(buffer.take(), codec);
}

export async function framed(text: Buffer, codec: LogCodec): Promise<Buffer> {
  return framesOf(codec)?.frame(text) ?? text;
}
