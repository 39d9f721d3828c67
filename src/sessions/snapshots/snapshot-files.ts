import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';

/**
 * The file system as snapshots use it: one primitive call per method, so that a test can record every one and stop at any.
 * Paths are built by safe names only.
 */
export interface SnapshotFiles {
  /** Null: there is no such file. */
  read(path: string): Promise<string | null>;
  exists(path: string): Promise<boolean>;
  /** With all directories above; for nobody else's eyes. */
  makeDirectory(path: string): Promise<void>;
  /** Replaces the content; not durable yet. */
  write(path: string, content: string): Promise<void>;
  sync(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Of a file that is not there too. */
  remove(path: string): Promise<void>;
  /** Makes the names in a directory durable. */
  syncDirectory(path: string): Promise<void>;
}

export class DiskFiles implements SnapshotFiles {
  async read(path: string): Promise<string | null> {
    try {
      return await readFile(path, 'utf8');
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  async exists(path: string): Promise<boolean> {
    try {
      await stat(path);
      return true;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  async makeDirectory(path: string): Promise<void> {
    await mkdir(path, { recursive: true, mode: 0o700 });
  }

  async write(path: string, content: string): Promise<void> {
    const file = await open(path, 'w', 0o600);
    try {
      await file.writeFile(content, 'utf8');
    } finally {
      await file.close();
    }
  }

  async sync(path: string): Promise<void> {
    await syncAt(path, 'r+');
  }

  async rename(from: string, to: string): Promise<void> {
    await rename(from, to);
  }

  async remove(path: string): Promise<void> {
    await rm(path, { force: true });
  }

  async syncDirectory(path: string): Promise<void> {
    await syncAt(path, 'r');
  }
}

async function syncAt(path: string, flags: string): Promise<void> {
  const file = await open(path, flags);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

function isMissing(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || !('code' in error)) return false;
  return error.code === 'ENOENT' || error.code === 'ENOTDIR';
}
