import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system of a few megabytes in memory, so that a full disk is really full and nobody else's. */
export class TinyDisk {
  private constructor(readonly path: string) {}

  /** Null where this user may not mount. */
  static mount(megabytes: number): TinyDisk | null {
    const path = mkdtempSync(join(tmpdir(), 'countersign-disk-'));
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'countersign-test', path]);
    if (mounted.status === 0) return new TinyDisk(path);
    rmSync(path, { recursive: true, force: true });
    return null;
  }

  get freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.path);
    return bavail * bsize;
  }

  /** Takes all space but so many bytes. */
  fillUpTo(leftBytes: number): void {
    writeFileSync(join(this.path, 'filler'), Buffer.alloc(Math.max(0, this.freeBytes - leftBytes)));
  }

  makeRoom(): void {
    rmSync(join(this.path, 'filler'), { force: true });
  }

  unmount(): void {
    spawnSync('umount', ['-l', this.path]);
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** Whether a disk can be mounted here; found out by doing it. */
export const canMount: boolean = (() => {
  const disk = TinyDisk.mount(1);
  disk?.unmount();
  return disk !== null;
})();

if (!canMount) process.stderr.write('SKIPPED: a full disk: this user may not mount a file system here\n');
