/** The load program: wrk(1), one thread, a closed loop per connection. */
import { execFile, execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const SCRIPT = fileURLToPath(new URL('./post.lua', import.meta.url));
/** Longer than any answer may take; it decides only what wrk counts as late. */
const TIMEOUT = '30s';
const run = promisify(execFile);

/**
 * @typedef {object} Load what wrk saw; it forgets what was on its way when the time was over
 * @property {number} requests answered
 * @property {number} durationUs
 * @property {number} p50Us
 * @property {number} p99Us
 * @property {number} maxUs
 * @property {number} notOk answers with a status of 400 or more
 * @property {number} broken connections that were not made, or ended while one read or wrote
 * @property {number} timeouts
 */

/** @returns {string} its version; throws with how to get it */
export function wrkVersion() {
  try {
    // Without arguments it tells its version and ends with 1.
    execFileSync('wrk', ['-v'], { stdio: ['ignore', 'pipe', 'ignore'] });
    return 'wrk';
  } catch (error) {
    const { code, stdout } = /** @type {{ code?: string, stdout?: Buffer }} */ (error);
    if (code === 'ENOENT') {
      throw new Error('wrk is missing: `apt-get install wrk`, `brew install wrk`, or https://github.com/wg/wrk', {
        cause: error,
      });
    }
    return String(stdout).split('\n')[0]?.split(' Copyright')[0] ?? 'wrk';
  }
}

/**
 * @param {{ url: string, token?: string }} target
 * @param {{ series: string, connections: number, seconds: number }} load
 * @returns {Promise<Load>}
 */
export async function postWithWrk({ url, token }, { series, connections, seconds }) {
  const { stdout } = await run(
    'wrk',
    ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency', '--timeout', TIMEOUT, '-s', SCRIPT, url],
    {
      env: {
        PATH: process.env.PATH ?? '',
        BENCH_SERIES: series,
        ...(token === undefined ? {} : { BENCH_TOKEN: token }),
      },
    },
  );
  const line = /^JSON (.*)$/m.exec(stdout)?.[1];
  if (line === undefined) throw new Error(`wrk said:\n${stdout}`);
  return JSON.parse(line);
}
