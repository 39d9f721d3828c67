/** Emits `SIGTERM` and `SIGINT`: the process, or a test. */
export interface SignalSource {
  on(signal: 'SIGTERM' | 'SIGINT', listener: (signal: string) => void): unknown;
}

/** One Ctrl-C reaches a process twice where a parent passes it on as well (npm does): that is still one wish. */
const SAME_WISH_MS = 1000;

/** The first signal asks the server to stop. A later one asks it to wait no longer. */
export class StopSignals {
  private constructor(
    /** Name of the first signal. */
    readonly stop: Promise<string>,
    /** Aborted by the second. */
    readonly hurry: AbortSignal,
  ) {}

  static listen(source: SignalSource, now: () => number = () => performance.now()): StopSignals {
    const second = new AbortController();
    let firstAt: number | null = null;
    const stop = new Promise<string>((resolve) => {
      const hear = (signal: string): void => {
        if (firstAt === null) {
          firstAt = now();
          resolve(signal);
        } else if (now() - firstAt >= SAME_WISH_MS) {
          second.abort();
        }
      };
      for (const signal of ['SIGTERM', 'SIGINT'] as const) source.on(signal, hear);
    });
    return new StopSignals(stop, second.signal);
  }
}
