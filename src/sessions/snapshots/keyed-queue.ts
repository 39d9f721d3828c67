/** Runs what belongs to one key one after the other, in the order of the calls; different keys overlap. */
export class KeyedQueue {
  private readonly tails = new Map<string, Promise<unknown>>();

  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const before = this.tails.get(key) ?? Promise.resolve();
    const turn = before.then(task, task);
    this.tails.set(key, turn);
    try {
      return await turn;
    } finally {
      if (this.tails.get(key) === turn) this.tails.delete(key);
    }
  }

  /** When everything that was under way has ended, well or not. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.tails.values());
  }
}
