import { errorName, type Logger } from './logger.js';

/** What Node tells of errors that nobody was there to handle: the process, or a test. */
export interface IncidentSource {
  on(event: 'unhandledRejection' | 'uncaughtException', listener: (error: unknown) => void): unknown;
}

/** A frame of a stack in a file: the message of the error is never part of it. */
const FRAME = /^ {4}at (?:.* \()?file:\/\/(\/[^\s()]+:\d+):\d+\)?$/m;

/** Parts of a path that say where in the program something is. */
const PLACE_PARTS = 4;

/**
 * What happens to the process when an error reaches nobody.
 *
 * A rejected promise that nobody awaits belongs to one piece of work, often to something a library started beside it:
 * the incident is logged with the name of the error and where in the program it was made, and everybody else is served.
 * Nothing rests on such a promise: what counts is committed, and work that ends without a record is found by the sweeps.
 *
 * An exception that nobody caught has cut through code that was changing state, so nothing in memory can be believed any
 * more: the process ends at once with a code of its own. That is a crash, and a crash loses nothing that was acknowledged
 * and sends nothing twice; to go on, or to write last records from such a memory, could do both.
 */
export function watchIncidents(source: IncidentSource, logger: Logger, end: () => void): void {
  let rejections = 0;
  source.on('unhandledRejection', (reason) => {
    rejections += 1;
    logger.error('a rejection reached nobody', { error: errorName(reason), at: placeOf(reason), count: rejections });
  });
  source.on('uncaughtException', (error) => {
    logger.error('an exception reached nobody; the process ends', { error: errorName(error), at: placeOf(error) });
    end();
  });
}

/** `dist/proxy/connectors/http.connector.js:93`: the innermost frame of the error that lies in a file; null when there is none. */
function placeOf(error: unknown): string | null {
  const stack = error instanceof Error ? error.stack : undefined;
  const file = stack === undefined ? undefined : FRAME.exec(stack)?.[1];
  return file?.split('/').slice(-PLACE_PARTS).join('/') ?? null;
}
