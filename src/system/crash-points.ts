/**
 * The moments in which a process that dies leaves most behind, by name. What each leaves behind is shown by tests that kill
 * the process there. In the order of a call's life, then what is beside it.
 */
export const CRASH_POINTS = {
  'storage.unit-written': 'A unit is written and others of its batch may follow. Nothing of the batch is durable.',
  'storage.before-commit': 'A batch is written as a whole. Nothing of it is durable.',
  'storage.after-commit': 'A batch is durable. Nobody has been told.',
  'egress.before-write': 'The clock allows a request. Not one byte of it has been handed over.',
  'egress.written': 'A request has been given to the operating system. Nothing that came back has been read.',
  'proxy.answer-unrecorded': 'An attempt has ended, with or without an answer. What became of it is not written down.',
  'proxy.sweep-settled': 'A sweep has settled one of the attempts that a dead process left. Others wait.',
  'outbox.webhook-taken': 'A receiver has answered a delivery with 2xx. The cursor has not moved.',
  'storage.migration-statement':
    'The next statement of a migration is about to run, in the transaction of the migration.',
  'storage.database-unnamed': 'A new database is whole and on disk, and still has the name of a draft.',
} as const;

export type CrashPoint = keyof typeof CRASH_POINTS;

/** Told of every point that is reached, in the thread that reaches it. `about`: the units or the request at hand. */
export type CrashPointObserver = (point: CrashPoint, about: unknown) => void;

let observer: CrashPointObserver | null = null;

/** Says that a point is reached. Without an observer, which the product never has, this is one comparison. */
export function reached(point: CrashPoint, about?: unknown): void {
  if (observer !== null) observer(point, about);
}

/**
 * Names the observer of this thread. Nothing in the product calls this: no setting and no variable of the environment leads
 * here, so a point can only end a process into which another program was loaded (`node --import`) to do just that.
 */
export function observeCrashPoints(chosen: CrashPointObserver): void {
  observer = chosen;
}
