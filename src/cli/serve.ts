import { setFlagsFromString } from 'node:v8';
import type { Settings } from '../config/settings.js';
import { watchIncidents } from '../system/incidents.js';
import type { Logger } from '../system/logger.js';
import { after } from '../system/timers.js';
import { EXIT } from './command.js';
import { StopSignals } from './stop-signals.js';

/** How much longer than its grace a stop may take: last records, closing the files. */
const AFTER_GRACE_MS = 10_000;

export interface ServeOptions {
  /** Start although another process has the data directory. */
  readonly takeOver?: boolean;
  /** Told where the server listens. */
  readonly announce?: (url: string) => void;
}

/**
 * By how much the live heap may grow before it is collected. V8 would let it more than double, and never gives the room back: 175 MB where
 * 75 MB are alive. Read at each collection, so it may be set while the program runs.
 */
const HEAP_GROWTH_PERCENT = 60;

/**
 * Runs the server until a signal stops it, or until another process has taken over. Answers the exit code. The signals are
 * heard before anything is opened: one that comes while the server starts must stop it too, and not just end the process.
 */
export async function serve(settings: Settings, logger: Logger, options: ServeOptions = {}): Promise<number> {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`);
  const signals = StopSignals.listen(process);
  watchIncidents(process, logger, () => process.exit(EXIT.crashed));
  const { startServer } = await import('../server.js');
  const server = await startServer(settings, logger, options);
  logger.info('listening', { url: server.url });
  options.announce?.(server.url);
  const why = await Promise.race([signals.stop, server.takenOver]);
  if (why === 'taken_over') logger.error('another process has taken over; this one records nothing any more and ends');
  else logger.info('stopping', { signal: why });
  const overdue = after(settings.shutdownGraceMs + AFTER_GRACE_MS, () => {
    logger.error('the server did not stop in time');
    process.exit(EXIT.failed);
  });
  await server.stop(signals.hurry);
  overdue.cancel();
  return why === 'taken_over' ? EXIT.takenOver : EXIT.done;
}
