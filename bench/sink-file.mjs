/** The file a sink writes: how far it is behind, and whether it tells every event once. */
import { createReadStream, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';

/** The longest the sink may need after the load has ended. */
export const SINK_LAG_MS_MAX = 5_000;
const GIVE_UP_MS = 60_000;
const POLL_MS = 20;

/** @param {string} path @returns {Record<string, string>} environment of a proxy that tells everything to this file */
export function fileSink(path) {
  return { COUNTERSIGN_OUTBOX__SINKS: JSON.stringify({ bench: { kind: 'file', path } }) };
}

/** Counts the lines of a file that grows, reading each byte once. */
class LineCount {
  lines = 0;
  #bytes = 0;

  /** @param {string} path */
  constructor(path) {
    this.path = path;
  }

  async update() {
    const size = statSync(this.path, { throwIfNoEntry: false })?.size ?? 0;
    if (size <= this.#bytes) return this.lines;
    for await (const chunk of createReadStream(this.path, { start: this.#bytes, end: size - 1 })) {
      for (const byte of /** @type {Buffer} */ (chunk)) if (byte === 10) this.lines += 1;
    }
    this.#bytes = size;
    return this.lines;
  }
}

/**
 * Waits until the file has so many events. To be begun the moment the load ends.
 * @param {string} path
 * @param {() => Promise<number>} expected events in the store; asked when the load has ended
 * @returns {Promise<number>} milliseconds from now until the file had them all; Infinity when they never came
 */
export async function sinkLagMs(path, expected) {
  const from = performance.now();
  const count = new LineCount(path);
  const events = await expected();
  while (performance.now() - from < GIVE_UP_MS) {
    if ((await count.update()) >= events) return performance.now() - from;
    await pause(POLL_MS);
  }
  return Number.POSITIVE_INFINITY;
}

/**
 * Reads the whole file of a proxy that has ended.
 * @param {string} path
 * @returns {Promise<{ lines: number, distinct: number }>}
 */
export async function toldBySink(path) {
  const ids = new Set();
  let lines = 0;
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const { id, source } = JSON.parse(line);
    lines += 1;
    ids.add(`${source} ${id}`);
  }
  return { lines, distinct: ids.size };
}
