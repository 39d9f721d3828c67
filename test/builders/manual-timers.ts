import type { Timer } from '../../src/system/timers.js';

interface Entry {
  readonly at: number;
  readonly run: () => void;
}

/** Timers that fire when time is moved, in the order of their deadlines. */
export class ManualTimers {
  private nowMs = 0;
  private entries: Entry[] = [];

  readonly after = (ms: number, run: () => void): Timer => {
    const entry: Entry = { at: this.nowMs + ms, run };
    this.entries.push(entry);
    const timer: Timer = {
      cancel: () => {
        this.entries = this.entries.filter((other) => other !== entry);
      },
      unref: () => timer,
    };
    return timer;
  };

  get armed(): number {
    return this.entries.length;
  }

  advance(ms: number): void {
    const until = this.nowMs + ms;
    for (;;) {
      const due = this.entries.filter((entry) => entry.at <= until).sort((left, right) => left.at - right.at)[0];
      if (due === undefined) break;
      this.entries = this.entries.filter((other) => other !== due);
      this.nowMs = due.at;
      due.run();
    }
    this.nowMs = until;
  }
}
