/** Counts what the proxy asks the disk to make durable, by running it once more below strace(1). */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GatedAnswers, runGated } from './gated-load.mjs';
import { installation } from './processes.mjs';
import { treeOf } from './process-figures.mjs';
import { readRecorded } from './recorded.mjs';

const CONNECTIONS = 64;

/** @typedef {{ calls: number, syncsPerCall: number, unitsPerFlush: number }} SyncFigures */

export function canTrace() {
  try {
    execFileSync('strace', ['-V'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/**
 * A series of its own at 64 connections, with a database of its own. `syncsPerCall` counts every fsync and fdatasync of the process while
 * the load runs, checkpoints included; `unitsPerFlush` divides the units of all calls by the log's syncs of the one thread that writes.
 * @param {string} dir
 * @param {string} toolUrl
 * @param {{ calls: number, others?: number | undefined }} plan
 * @returns {Promise<SyncFigures>}
 */
export async function countSyncs(dir, toolUrl, { calls, others }) {
  const traced = await installation(dir, toolUrl, { others });
  const trace = join(dir, 'trace.txt');
  const command = ['strace', '-f', '--seccomp-bpf', '-y', '-ttt', '-e', 'trace=fsync,fdatasync', '-o', trace];
  const proxy = await traced.start({ command });
  const [, pid] = treeOf(proxy.pid);
  if (pid === undefined) throw new Error('strace has not started the proxy');
  const answers = new GatedAnswers();
  const from = Date.now();
  try {
    await runGated(answers, { url: proxy.url, token: traced.token, series: 'traced', connections: CONNECTIONS, calls });
  } finally {
    process.kill(pid, 'SIGTERM');
    await proxy.exited;
  }
  const until = Date.now();
  if (answers.problems.length > 0) throw new Error(`below strace: ${answers.problems.join('; ')}`);
  return figuresFrom(readFileSync(trace, 'utf8'), {
    from,
    until,
    calls,
    units: readRecorded(traced.database).callUnits,
  });
}

/** `1234  1700000000.123456 fdatasync(18</path/file-wal>) = 0`; a resumed call is not counted again. */
const SYNC = /^(\d+)\s+(\d+\.\d+) f(?:data)?sync\(\d+<([^>]*)>/gm;

/** @param {string} trace @param {{ from: number, until: number, calls: number, units: number }} run @returns {SyncFigures} */
function figuresFrom(trace, { from, until, calls, units }) {
  let syncs = 0;
  /** @type {Map<string, number>} */
  const logSyncsByThread = new Map();
  for (const [, thread = '', seconds = '', file = ''] of trace.matchAll(SYNC)) {
    const at = Number(seconds) * 1000;
    if (at < from || at > until) continue;
    syncs += 1;
    if (file.endsWith('-wal')) logSyncsByThread.set(thread, (logSyncsByThread.get(thread) ?? 0) + 1);
  }
  const flushes = Math.max(0, ...logSyncsByThread.values());
  if (flushes === 0) throw new Error('strace saw no sync of the write-ahead log');
  return { calls, syncsPerCall: syncs / calls, unitsPerFlush: units / flushes };
}
