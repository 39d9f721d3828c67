import { open, mkdir, readdir, rename, rm, type FileHandle } from 'node:fs/promises';
import { constants } from 'node:fs';
import { systemCode, type LogFile, type LogFiles } from './log-files.js';

const { O_CREAT, O_EXCL, O_RDONLY, O_RDWR, O_TRUNC } = constants;
const FLAGS = {
  read: O_RDONLY,
  write: O_RDWR,
  new: O_RDWR | O_CREAT | O_EXCL,
  draft: O_RDWR | O_CREAT | O_TRUNC,
} as const;

/** The file system of the machine. Files have mode 0600, directories 0700, from their first moment on. */
export const NODE_LOG_FILES: LogFiles = {
  open: async (path, mode) => new NodeLogFile(await open(path, FLAGS[mode], 0o600)),
  makeDirectory: async (path) => void (await mkdir(path, { recursive: true, mode: 0o700 })),
  syncDirectory: async (path) => {
    const directory = await open(path, 'r');
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  },
  rename: (from, to) => rename(from, to),
  remove: (path) => rm(path, { force: true }),
  names: async (path) => {
    try {
      return await readdir(path);
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return [];
      throw error;
    }
  },
};

class NodeLogFile implements LogFile {
  constructor(private readonly handle: FileHandle) {}

  async read(at: number, length: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(length);
    let filled = 0;
    while (filled < length) {
      const { bytesRead } = await this.handle.read(bytes, filled, length - filled, at + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return bytes.subarray(0, filled);
  }

  async write(bytes: Uint8Array, at: number): Promise<void> {
    let written = 0;
    while (written < bytes.length) {
      const { bytesWritten } = await this.handle.write(bytes, written, bytes.length - written, at + written);
      written += bytesWritten;
    }
  }

  truncate(length: number): Promise<void> {
    return this.handle.truncate(length);
  }

  sync(): Promise<void> {
    return this.handle.datasync();
  }

  async state(): Promise<{ readonly identity: string; readonly size: number }> {
    const { dev, ino, size } = await this.handle.stat();
    return { identity: `${dev}-${ino}`, size };
  }

  close(): Promise<void> {
    return this.handle.close();
  }
}
