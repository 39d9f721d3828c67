/**
 * Work about one key runs one after another, work about different keys side by side. A failure is its caller's alone: what
 * comes next runs all the same.
 */
export class SerialChain {
  private readonly tails = new Map<string, Promise<void>>();

  /** Resolves or rejects as `work` does, which begins when everything queued before under the key has settled. */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const tail = (this.tails.get(key) ?? Promise.resolve()).then(work);
    const settled: Promise<void> = tail.then(
      () => this.forget(key, settled),
      () => this.forget(key, settled),
    );
    this.tails.set(key, settled);
    return tail;
  }

  /** When everything queued so far under the key has settled. */
  async settled(key: string): Promise<void> {
    await this.tails.get(key);
  }

  /** When nothing is queued under any key, whatever is added meanwhile. */
  async idle(): Promise<void> {
    while (this.tails.size > 0) await Promise.all(this.tails.values());
  }

  get size(): number {
    return this.tails.size;
  }

  /** Only if nothing was queued behind: a later tail is another's. */
  private forget(key: string, settled: Promise<void>): void {
    if (this.tails.get(key) === settled) this.tails.delete(key);
  }
}
