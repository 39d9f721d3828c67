import { open, stat, type FileHandle } from 'node:fs/promises';
import type { Delivered, Delivery, Sink } from './sink.js';

const FILE_MODE = 0o600;
const BATCH_MAX = 512;
const LINGER_MS = 100;
const LINE_END = 0x0a;

/**
 * One CloudEvent a line, appended to a file that a log shipper follows, and on the disk before the cursor moves. The path is looked
 * at before every round: a file that was moved away is let go and a new one made, so rotation needs no signal. What a crash
 * or a full disk left without a line end is ended, never cut: the next line starts clean and nothing a shipper has read changes.
 */
export class FileSink implements Sink {
  readonly batchMax = BATCH_MAX;
  readonly lingerMs = LINGER_MS;
  private file: FileHandle | null = null;

  constructor(private readonly path: string) {}

  /** All of a round or none of it counts; what a failed round has written comes again. */
  async deliver(batch: readonly Delivery[]): Promise<readonly Delivered[]> {
    try {
      const file = await this.current();
      await file.appendFile(batch.map(({ body }) => `${body}\n`).join(''));
      await file.datasync();
      return batch.map((delivery) => ({ delivery, outcome: { kind: 'delivered' } }));
    } catch (error) {
      // Whatever it wrote ends somewhere: the next round looks where.
      await this.close();
      const reason = codeOf(error);
      return batch.map((delivery) => ({ delivery, outcome: { kind: 'unavailable', reason, retryAfterMs: null } }));
    }
  }

  async close(): Promise<void> {
    const { file } = this;
    this.file = null;
    await file?.close().catch(() => undefined);
  }

  private async current(): Promise<FileHandle> {
    if (this.file !== null && (await this.isMoved(this.file))) await this.close();
    this.file ??= await this.opened();
    return this.file;
  }

  private async isMoved(file: FileHandle): Promise<boolean> {
    const [held, named] = await Promise.all([file.stat(), stat(this.path).catch(() => null)]);
    return named === null || named.ino !== held.ino || named.dev !== held.dev;
  }

  private async opened(): Promise<FileHandle> {
    const file = await open(this.path, 'a+', FILE_MODE);
    try {
      const { size } = await file.stat();
      const last = Buffer.alloc(1);
      if (size > 0) await file.read(last, 0, 1, size - 1);
      if (size > 0 && last[0] !== LINE_END) await file.appendFile('\n');
      return file;
    } catch (error) {
      await file.close();
      throw error;
    }
  }
}

function codeOf(error: unknown): string {
  const code: unknown = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : 'write_failed';
}
