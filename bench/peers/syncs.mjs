/** How often the processes of a candidate ask the disk to make something durable, seen from outside by strace(1). */
import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { treeOf } from '../process-figures.mjs';

/** `1234 fdatasync(18) = 0`; a call that another interrupts is resumed on a second line, which is not counted. */
const SYNC = /^\d+ +(?:fsync|fdatasync|syncfs|sync)\(/gm;
const ATTACH_MS = 1000;

/**
 * Attaches to all processes of a candidate while `load` runs. That slows them down, so that more calls share a sync than otherwise.
 * @param {number[]} pids
 * @param {string} file where the trace is written
 * @param {() => Promise<number>} load resolves to the number of calls
 * @returns {Promise<number>} syncs per call
 */
export async function syncsPerCall(pids, file, load) {
  const attach = pids.flatMap(treeOf).flatMap((pid) => ['-p', String(pid)]);
  const strace = spawn('strace', ['-f', '-qq', '-e', 'trace=fsync,fdatasync,syncfs,sync', '-o', file, ...attach], {
    stdio: 'ignore',
  });
  const exited = new Promise((resolve) => strace.once('exit', resolve));
  await pause(ATTACH_MS);
  try {
    const calls = await load();
    strace.kill('SIGINT');
    await exited;
    return (readFileSync(file, 'utf8').match(SYNC) ?? []).length / calls;
  } finally {
    strace.kill('SIGKILL');
    rmSync(file, { force: true });
  }
}
