/** Programs of the chaos run as processes of their own, which may be killed before they are ready. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/**
 * @typedef {object} Program
 * @property {Promise<string>} ready its address; rejects when it ends first
 * @property {Promise<void>} exited
 * @property {(signal: NodeJS.Signals) => Promise<void>} end answers when it is gone
 */

/** What has been started and has not ended. @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();

/** Ends everything at once; for when the run fails or is interrupted. */
export function killAll() {
  for (const child of running) child.kill('SIGKILL');
}

/** @param {readonly string[]} args of node @param {Record<string, string>} env @returns {Program} */
export function launch(args, env) {
  const child = spawn(process.execPath, args, {
    env: { PATH: '/usr/bin:/bin', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let errors = '';
  child.stderr.on('data', (chunk) => (errors += String(chunk)));
  /** @type {Promise<void>} */
  const exited = new Promise((resolve) => child.once('close', () => resolve()));
  void exited.then(() => running.delete(child));
  /** @type {Promise<string>} */
  const ready = new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (!line.includes('"msg":"listening"')) return;
      resolve(/** @type {{ url: string }} */ (JSON.parse(line)).url);
    });
    void exited.then(() => reject(new Error(`ended before it was ready: ${errors.slice(-2_000)}`)));
  });
  ready.catch(() => undefined);
  const end = (/** @type {NodeJS.Signals} */ signal) => {
    child.kill(signal);
    return exited;
  };
  return { ready, exited, end };
}
