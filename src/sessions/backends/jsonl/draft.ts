import type { LogFile, LogFiles } from './log-files.js';
import type { LogPath } from './log-path.js';
import type { OwnerFence } from './owner-fence.js';

const COPY_BYTES = 262_144;

export interface LogSurroundings {
  readonly files: LogFiles;
  readonly fence: OwnerFence;
}

/** Writes a file beside the log and gives it the log's name once it is on the disk: a crash leaves the old one or the new one. */
export async function replaceLog(
  { files, fence }: LogSurroundings,
  path: LogPath,
  pieces: AsyncIterable<Buffer>,
): Promise<LogFile> {
  const draft = await files.open(path.draft, 'draft');
  try {
    let size = 0;
    for await (const bytes of pieces) {
      await draft.write(bytes, size);
      size += bytes.length;
    }
    await draft.sync();
    await fence.assertOurs();
    await files.rename(path.draft, path.file);
    await files.syncDirectory(path.directory);
    return draft;
  } catch (error) {
    await draft.close();
    throw error;
  }
}

/** The bytes of a file from one place to another. */
export async function* copied(source: LogFile, from: number, to: number): AsyncGenerator<Buffer> {
  for (let at = from; at < to; at += COPY_BYTES) yield source.read(at, Math.min(COPY_BYTES, to - at));
}
