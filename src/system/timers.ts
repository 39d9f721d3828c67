/** The longest delay a timer of Node takes; a longer one would fire at once. */
const TIMER_MS_MAX = 2_147_483_647;

/** A timer that can be called off. */
export interface Timer {
  /** Nothing happens any more; may be called again, and when it has fired. */
  cancel(): void;
  /** Does not keep the process alive by itself. */
  unref(): Timer;
}

/**
 * Calls once after so many milliseconds, however many: the only way in which this program waits for a time. A delay that is
 * not a number, or is past, counts as none; Infinity never comes.
 *
 * A timer goes by a clock that may stand still while the machine sleeps, and says nothing about what time it is: whoever is
 * called looks at the clock again before it does what must not be done too late or too early.
 */
export function after(ms: number, run: () => void): Timer {
  let isRefed = true;
  let handle: NodeJS.Timeout;
  let leftMs = ms > 0 ? ms : 0;
  const arm = (): void => {
    const partMs = Math.min(leftMs, TIMER_MS_MAX);
    leftMs -= partMs;
    handle = setTimeout(() => (leftMs > 0 ? arm() : run()), partMs);
    if (!isRefed) handle.unref();
  };
  arm();
  const timer: Timer = {
    cancel: () => {
      clearTimeout(handle);
    },
    unref: () => {
      isRefed = false;
      handle.unref();
      return timer;
    },
  };
  return timer;
}

/** Calls again and again. After a time in which nothing could run it calls once, not once for each time that was missed. */
export function every(ms: number, run: () => void): Timer {
  const handle = setInterval(run, Math.min(ms, TIMER_MS_MAX));
  const timer: Timer = {
    cancel: () => clearInterval(handle),
    unref: () => {
      handle.unref();
      return timer;
    },
  };
  return timer;
}

/** Resolves after so many milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    after(ms, resolve);
  });
}
