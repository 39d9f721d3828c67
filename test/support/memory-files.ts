import type { SnapshotFiles } from '../../src/sessions/snapshots/snapshot-files.js';

/** What the process dies of: nothing that comes after it happens. */
export class Stopped extends Error {}

/** A file system in memory that notes every primitive call, and stops or fails at the one it is told. */
export class MemoryFiles implements SnapshotFiles {
  readonly content = new Map<string, string>();
  readonly calls: string[] = [];
  /** Number of the call, from 0, at which everything stops; a write leaves half of its bytes. */
  stopAt = Infinity;
  /** Calls whose name begins so reject, and the process goes on. */
  readonly failing = new Set<string>();
  private stopped = false;

  async read(path: string): Promise<string | null> {
    this.note('read', path);
    return this.content.get(path) ?? null;
  }

  async exists(path: string): Promise<boolean> {
    this.note('exists', path);
    return [...this.content.keys()].some((name) => name === path || name.startsWith(`${path}/`));
  }

  async makeDirectory(path: string): Promise<void> {
    this.note('mkdir', path);
  }

  async write(path: string, content: string): Promise<void> {
    const half = content.slice(0, content.length / 2);
    if (!this.stopped && this.calls.length >= this.stopAt) this.content.set(path, half);
    this.note('write', path);
    this.content.set(path, content);
  }

  async sync(path: string): Promise<void> {
    this.note('sync', path);
  }

  async rename(from: string, to: string): Promise<void> {
    this.note('rename', from);
    const content = this.content.get(from);
    if (content === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
    this.content.delete(from);
    this.content.set(to, content);
  }

  async remove(path: string): Promise<void> {
    this.note('remove', path);
    this.content.delete(path);
  }

  async syncDirectory(path: string): Promise<void> {
    this.note('syncDirectory', path);
  }

  /** A new process on the same disk. */
  restarted(): MemoryFiles {
    const files = new MemoryFiles();
    for (const [path, content] of this.content) files.content.set(path, content);
    return files;
  }

  private note(call: string, path: string): void {
    const name = `${call} ${path.split('/').at(-1)}`;
    if (this.stopped || this.calls.length >= this.stopAt) {
      this.stopped = true;
      throw new Stopped(name);
    }
    this.calls.push(name);
    if ([...this.failing].some((start) => name.startsWith(start))) throw new Error(`told to fail: ${call}`);
  }
}
