import { crc32 } from 'node:zlib';
import type { SessionKey } from '../../domain/session/session-key.js';
import type { SessionTableRow } from './session-log-tables.js';

/** What every checksum of a session begins with: a row that was moved to another session has a wrong one there. */
export function checksumSeed({ tenant, sessionId }: SessionKey): number {
  return crc32(`${tenant}\n${sessionId}\n`);
}

/** CRC-32 of the key of the session and the text of a row: finds damage, and proves nothing against an intruder. */
export function rowChecksum(seed: number, text: string): number {
  return crc32(text, seed);
}

/** Of the columns that say where a log ends and what was promised. */
export function sessionChecksum(seed: number, row: Omit<SessionTableRow, 'crc'>): number {
  const { session, header, format_version, revision, next_seq, barrier_seq, created_at } = row;
  return crc32([session, header, format_version, revision, next_seq, barrier_seq, created_at].join('\n'), seed);
}
