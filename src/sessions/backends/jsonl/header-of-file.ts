import { join } from 'node:path';
import { safeSessionName, sessionIdProblem } from '../../../domain/session/session-id.js';
import type { FrameCodec } from './frame-codec.js';
import { framesIn } from './file-frames.js';
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
  const frames = framesIn(bytes);
  const text = frames === null ? bytes : firstFrame(frames, bytes);
  const end = text?.indexOf(LINE_FEED) ?? -1;
  return end === -1 ? null : (text?.subarray(0, end) ?? null);
}

function firstFrame(frames: FrameCodec, bytes: Buffer): Buffer | null {
  const { headBytes } = frames;
  const length = bytes.length < headBytes ? null : frames.length(bytes.subarray(0, headBytes));
  return length === null || length > bytes.length ? null : frames.text(bytes.subarray(0, length));
}

function idIn(line: Buffer | null, plainName: string): string | null {
  if (line === null) return null;
  const id = (JSON.parse(line.toString()) as { readonly sessionId?: unknown } | null)?.sessionId;
  if (typeof id !== 'string' || sessionIdProblem(id) !== null) return plainName;
  return safeSessionName(id) === plainName ? id : plainName;
}
