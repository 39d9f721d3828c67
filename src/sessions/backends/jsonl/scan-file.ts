import { crc32 } from 'node:zlib';
import { CountersignError } from '../../../domain/errors/countersign-error.js';
import type { SessionKey } from '../../../domain/session/session-key.js';
import type { ScanStart, ScanWindow } from './line-reader.js';
import { systemCode, type LogFile, type LogFiles } from './log-files.js';
import { scanLog, type ScannedLog } from './log-scan.js';

/** Bytes at the end of a file that go into its revision: the checksum of the last line, or that of the last frame. */
const MARK_BYTES = 16;

/** Runs a scan over the first `size` bytes of a file. Other requests come between its steps. */
export async function scanFile(
  file: LogFile,
  size: number,
  key: SessionKey,
  window?: ScanWindow,
  start?: ScanStart,
): Promise<ScannedLog | null> {
  const scan = scanLog(size, key, window, start);
  let step = scan.next(Buffer.alloc(0));
  while (step.done !== true) {
    const { at, length } = step.value;
    const bytes = await file.read(at, length);
    if (bytes.length < length) throw new Error('the log has become shorter while it was read');
    step = scan.next(bytes);
  }
  return step.value;
}

/** Names what the file holds: which file it is, how long, and how it ends. */
export async function revisionOfFile(file: LogFile, identity: string, size: number): Promise<string> {
  const length = Math.min(size, MARK_BYTES);
  return revisionOf(identity, size, await file.read(size - length, length));
}

/** `end` holds at least the last bytes of the file. */
export function revisionOf(identity: string, size: number, end: Buffer): string {
  return `${identity}-${size}-${crc32(end.subarray(-MARK_BYTES)).toString(16)}`;
}

/** The log for reading, or null where there is none. One that is there and cannot be opened is no empty one. */
export async function openForReading(files: LogFiles, path: string): Promise<LogFile | null> {
  try {
    return await files.open(path, 'read');
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT') return null;
    if (code === 'EACCES' || code === 'EPERM' || code === 'EISDIR') {
      throw new CountersignError('session_log_corrupt', `the log is there but cannot be opened (${code})`);
    }
    throw error;
  }
}
