import { crc32 } from 'node:zlib';
import type { SessionKey } from '../../../domain/session/session-key.js';

/** `,"c":"` eight digits `"}`: the last member of every line. */
const SEAL_UNITS = 16;
const SEAL = /^,"c":"([0-9a-f]{8})"\}$/;
/** With the line feed. */
export const SEAL_BYTES = SEAL_UNITS + 1;
const SHORTEST = SEAL_UNITS + 2;

/** Of the first line, which says whose log it is. */
export const HEADER_SEED = 0;

/** What the checksums of all other lines begin with: a line that was moved to another log has a wrong one there. */
export function lineSeed({ tenant, sessionId }: SessionKey): number {
  return crc32(`${tenant}\n${sessionId}\n`);
}

/** The text of an object with its CRC-32 as one more member: over the bytes in front of that member, after the seed. */
export function sealedLine(seed: number, json: string): string {
  const open = json.slice(0, -1);
  return `${open}${sealText(crc32(open, seed))}`;
}

/** What a line ends with instead of its closing brace. */
export const sealText = (sum: number): string => `,"c":"${sum.toString(16).padStart(8, '0')}"}\n`;

/** The object's text as it was sealed, or null when the bytes are not what was written. The line comes without its end. */
export function openedLine(seed: number, bytes: Buffer, start: number, end: number): string | null {
  if (end - start < SHORTEST) return null;
  const seal = SEAL.exec(bytes.toString('latin1', end - SEAL_UNITS, end))?.[1];
  if (seal === undefined) return null;
  const sum = crc32(bytes.subarray(start, end - SEAL_UNITS), seed);
  return sum === Number.parseInt(seal, 16) ? `${bytes.toString('utf8', start, end - SEAL_UNITS)}}` : null;
}
