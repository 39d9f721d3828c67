import { dirname, join } from 'node:path';
import { CountersignError } from '../../../domain/errors/countersign-error.js';
import { systemCode, type LogFiles } from './log-files.js';

const OWNER_FILE = '.owner';
const OWNER_BYTES_MAX = 32;
const EPOCH = /^([0-9]{1,16})\n$/;

/** Which process the logs below a root belong to: a file with the highest epoch that has begun to use them. */
export class OwnerFence {
  private readonly path: string;

  constructor(
    private readonly files: LogFiles,
    private readonly root: string,
    private readonly epoch: number,
  ) {
    this.path = join(root, OWNER_FILE);
  }

  /** Makes the root where it is missing, and says durably that it is ours. Rejects with `session_owned_elsewhere`. */
  async take(): Promise<void> {
    await this.files.makeDirectory(this.root);
    await this.files.syncDirectory(dirname(this.root));
    const known = await this.known();
    if (known !== null && known > this.epoch) throw ownedElsewhere();
    const draft = `${this.path}.new`;
    const file = await this.files.open(draft, 'draft');
    try {
      await file.write(Buffer.from(`${this.epoch}\n`), 0);
      await file.sync();
    } finally {
      await file.close();
    }
    await this.files.rename(draft, this.path);
    await this.files.syncDirectory(this.root);
  }

  /**
   * Rejects with `session_owned_elsewhere` once another process has taken the root. Asked between opening a file and using it, and
   * between the sync of a write and its answer: a file opened before a take-over is not the one that the other process reads.
   */
  async assertOurs(): Promise<void> {
    if ((await this.known()) !== this.epoch) throw ownedElsewhere();
  }

  /** The epoch that was written last; null: none. Throws a plain `Error` for a file that was damaged. */
  async known(): Promise<number | null> {
    const text = await this.text();
    if (text === null) return null;
    const epoch = EPOCH.exec(text)?.[1];
    if (epoch === undefined)
      throw new Error('the owner file of the session logs is damaged; an operator must look at it');
    return Number(epoch);
  }

  private async text(): Promise<string | null> {
    try {
      const file = await this.files.open(this.path, 'read');
      try {
        return (await file.read(0, OWNER_BYTES_MAX)).toString('latin1');
      } finally {
        await file.close();
      }
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return null;
      throw error;
    }
  }
}

export const ownedElsewhere = (): CountersignError =>
  new CountersignError('session_owned_elsewhere', 'another process has written to this log or has taken it over');
