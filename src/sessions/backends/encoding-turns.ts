/**
 * Whoever turns rows into bytes does a piece at a time, and one piece of all sessions together per turn of the event loop: fifty
 * sessions that are written at once keep requests waiting no longer than one.
 */
let last: Promise<void> = Promise.resolve();

/** Resolves when the caller may do its next piece. */
export function nextEncodingTurn(): Promise<void> {
  last = last.then(afterOthers);
  return last;
}

const afterOthers = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
