import { writeHeadNote } from '../head-note.js';
import type { StoreHead } from '../store-head.js';

/** How often the note follows the store, and so how many milliseconds of events it may not know of. */
const INTERVAL_MS = 1_000;

export interface HeadKeeperOptions {
  readonly path: string;
  /** The head now; its root may be null while leaves are still being counted. */
  readonly head: () => Promise<StoreHead>;
  /** How many positions are durable. */
  readonly positions: () => number;
  /** True once a write may have failed half way: what is durable is then for the next start to find out. */
  readonly hasFailed: () => boolean;
  readonly now: () => number;
  /** Told when the note cannot be written; the next second tries again. */
  readonly problem: (message: string) => void;
}

/** Keeps the note beside the database: only of what is durable, at most once a second, and once more when the store is closed. */
export class HeadKeeper {
  private timer: NodeJS.Timeout | null = null;
  private running: Promise<void> = Promise.resolve();
  private noted: StoreHead | null = null;
  private keeping = false;

  constructor(private readonly options: HeadKeeperOptions) {}

  /** Rejects when the first note cannot be written: a process that cannot keep it does not start. */
  async start(): Promise<void> {
    await this.write(false);
    this.keeping = true;
    this.timer = setInterval(() => {
      this.running = this.running.then(() => this.tick());
    }, INTERVAL_MS);
    this.timer.unref();
  }

  async tick(): Promise<void> {
    const isKnown = this.noted?.size === this.options.positions() && this.noted.root !== null;
    if (isKnown || !this.keeping || this.options.hasFailed()) return;
    await this.write(false).catch((error: unknown) => this.options.problem(messageOf(error)));
  }

  /** The last note says that nothing came after it. A store that has failed is not closed in order. */
  async close(): Promise<void> {
    if (this.timer !== null) clearInterval(this.timer);
    await this.running;
    if (!this.keeping) return;
    this.keeping = false;
    if (this.options.hasFailed()) return;
    await this.write(true).catch((error: unknown) => this.options.problem(messageOf(error)));
  }

  private async write(closed: boolean): Promise<void> {
    const head = await this.options.head();
    await writeHeadNote(this.options.path, { ...head, closed, at: new Date(this.options.now()).toISOString() });
    this.noted = head;
  }
}

const messageOf = (error: unknown): string =>
  `the note of the store's head could not be written: ${error instanceof Error ? error.message : 'unknown'}`;
