import type { Feed } from '../storage/feed.js';

/**
 * Wakes whoever waits for news of a tool call. It carries no state: a waiter subscribes first and then reads the store,
 * so a change between the two is never missed and nothing about a wait lives only here.
 */
export class CallWatch {
  private readonly waiting = new Map<string, Set<() => void>>();
  private closed = false;

  constructor(feed: Feed) {
    feed.subscribe('call-watch', ({ unit }) => {
      for (const append of unit.appends) {
        if (append.stream.kind === 'call') this.wake(append.stream.id);
        // An approval's own units (a vote short of its quorum) are news of its call too.
        else
          for (const event of append.events) if (event.refs.toolCallId !== undefined) this.wake(event.refs.toolCallId);
      }
    });
  }

  /** The process is stopping: everybody is woken and nobody waits any more. */
  close(): void {
    this.closed = true;
    for (const toolCallId of this.waiting.keys()) this.wake(toolCallId);
  }

  get isClosed(): boolean {
    return this.closed;
  }

  /** How many calls are being waited for. */
  get size(): number {
    return this.waiting.size;
  }

  /** Starts listening at once; `changed` settles at the next unit about the call, and never rejects. */
  listen(toolCallId: string): { readonly changed: Promise<void>; readonly stop: () => void } {
    let wake: () => void = () => {};
    const changed = new Promise<void>((resolve) => (wake = resolve));
    const listeners = this.waiting.get(toolCallId) ?? new Set();
    listeners.add(wake);
    this.waiting.set(toolCallId, listeners);
    const stop = (): void => {
      listeners.delete(wake);
      if (listeners.size === 0 && this.waiting.get(toolCallId) === listeners) this.waiting.delete(toolCallId);
      wake();
    };
    return { changed, stop };
  }

  private wake(toolCallId: string): void {
    const listeners = this.waiting.get(toolCallId);
    if (listeners === undefined) return;
    this.waiting.delete(toolCallId);
    for (const wake of listeners) wake();
  }
}
