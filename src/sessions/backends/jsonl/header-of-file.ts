import { join } from 'node:path';
import { safeSessionName, sessionIdProblem } from '../../../domain/session/session-id.js';
import { FRAME_HEAD_BYTES, frameLength, frameText, isFrameMagic } from './gzip-frame.js';
import type { LogFile, LogFiles } from './log-files.js';
import { LOG_SUFFIX } from './log-path.js';

/** More than any header that this program writes. */
const HEADER_BYTES_MAX = 65_536;
const LINE_FEED = 0x0a;

/**
 * Whose log a file is: the id of its header, or its name where the header cannot be read or does not belong there. Null where a header
 * was begun and not finished, and where the file is gone: there is no log.
 */
export async function sessionIdOfFile(files: LogFiles, directory: string, name: string): Promise<string | null> {
  const plainName = name.slice(0, -LOG_SUFFIX.length);
  try {
    const file = await files.open(join(directory, name), 'read');
    try {
      return idIn(await firstLine(file), plainName);
    } finally {
      await file.close();
    }
  } catch {
    return plainName;
  }
}

/** Null: not finished. */
async function firstLine(file: LogFile): Promise<Buffer | null> {
  const { size } = await file.state();
  const bytes = await file.read(0, Math.min(size, HEADER_BYTES_MAX));
  const text = isFrameMagic(bytes) ? firstFrame(bytes) : bytes;
  const end = text?.indexOf(LINE_FEED) ?? -1;
  return end === -1 ? null : (text?.subarray(0, end) ?? null);
}

function firstFrame(bytes: Buffer): Buffer | null {
  const length = bytes.length < FRAME_HEAD_BYTES ? null : frameLength(bytes.subarray(0, FRAME_HEAD_BYTES));
  return length === null || length > bytes.length ? null : frameText(bytes.subarray(0, length));
}

function idIn(line: Buffer | null, plainName: string): string | null {
  if (line === null) return null;
  const id = (JSON.parse(line.toString()) as { readonly sessionId?: unknown } | null)?.sessionId;
  if (typeof id !== 'string' || sessionIdProblem(id) !== null) return plainName;
  return safeSessionName(id) === plainName ? id : plainName;
}
