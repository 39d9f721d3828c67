/**
 * `npm run bench`: what the gated path costs, beside the same tool called directly. A closed loop at 1, 16 and 64 connections; every call
 * is checked afterwards, at the tool and in the ledger. Ends with a non-zero code when anything differs.
 *
 *   node bench/bench.mjs [--calls N] [--quick] [--profile DIR]
 */
import { mkdtempSync, mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runClosedLoop, rounded } from './closed-loop.mjs';
import { GatedAnswers, lookUp, runGated } from './gated-load.mjs';
import { cpuMs, memoryMiB, watchMemory } from './process-figures.mjs';
import { TOOL_KEY, WITH_PROBE, eventLoopFigures, installation, startTool } from './processes.mjs';
import { readRecorded } from './recorded.mjs';
import { jsonLine, printTable } from './report.mjs';
import { canTrace, countSyncs } from './sync-trace.mjs';
import { differences } from './verify.mjs';
import { directRequests } from './work.mjs';

/** Connections, and the share of the calls that is made with so many. */
const LEVELS = /** @type {const} */ ([
  [1, 0.1],
  [16, 0.3],
  [64, 0.6],
]);
const DEFAULT_CALLS = 100_000;
const QUICK_CALLS = 2_000;
const TRACED_CALLS_MAX = 5_000;
/** Not timed, but checked like all others: what is compiled at its first use is not what a running proxy costs. */
const WARM_UP_CALLS = 200;

function readOptions() {
  const { values } = parseArgs({
    options: { calls: { type: 'string' }, quick: { type: 'boolean' }, profile: { type: 'string' } },
  });
  const calls = Number(values.calls ?? (values.quick ? QUICK_CALLS : DEFAULT_CALLS));
  if (!Number.isSafeInteger(calls) || calls < 100) throw new Error('--calls takes a whole number from 100');
  return { calls, profileDir: values.profile === undefined ? null : resolve(values.profile) };
}

/** @returns {Promise<number>} the exit code */
async function bench() {
  const place = await installation(join(dir, 'gated'), tool.url);
  const { capabilities, policies } = place.definitions;
  console.log(`${wanted} gated calls; ${capabilities} capabilities, ${policies} policies, 10 of them in the shard.`);
  const before = await recordedByAStart(place);
  const bytesBefore = place.databaseBytes();
  const direct = await measureDirect();
  await tool.forget();
  const gated = await measureGated(place, direct);
  const counts = await tool.counts();
  const after = readRecorded(place.database);
  const problems = differences({ ...gated, calls: gated.sent, tool: counts, before, after });
  const report = {
    ...gated,
    calls: gated.sent,
    eventsPerCall: after.callEvents / after.calls,
    bytesPerCall: (place.databaseBytes() - bytesBefore) / gated.sent,
    syncs: await traced(),
  };
  printTable(report);
  for (const problem of problems) console.log(`DIFFERS  ${problem}`);
  const { found } = gated;
  if (problems.length === 0) {
    console.log(
      `Checked: all ${gated.sent} calls are completed (${found.open} looked up late, ${found.sampled} sampled), the tool ran each key once, ${after.leaves} leaves.`,
    );
  }
  console.log(jsonLine(report));
  return problems.length === 0 ? 0 : 1;
}

/** What a start leaves in the database without any call. @param {import('./processes.mjs').Installation} place */
async function recordedByAStart(place) {
  const proxy = await place.start();
  const ready = await fetch(`${proxy.url}/readyz`);
  const code = await proxy.kill('SIGTERM');
  if (!ready.ok) throw new Error(`the proxy is not ready: ${await ready.text()}`);
  if (code !== 0) throw new Error(`the proxy ended with ${code}:\n${proxy.output()}`);
  return readRecorded(place.database);
}

/** @returns {Promise<Map<number, import('./closed-loop.mjs').Speed>>} by connections */
async function measureDirect() {
  const speeds = new Map();
  for (const [connections, share] of LEVELS) {
    const loop = (/** @type {string} */ series, /** @type {number} */ calls) =>
      runClosedLoop({
        url: tool.url,
        connections,
        calls,
        request: directRequests(TOOL_KEY, `${series}-${connections}`),
        answered: mustBeOk,
      });
    await loop('direct-warm', WARM_UP_CALLS);
    speeds.set(connections, await loop('direct', shareOf(share)));
  }
  return speeds;
}

/** @param {number} status @param {string} text */
function mustBeOk(status, text) {
  if (status !== 200) throw new Error(`the tool answered ${status}: ${text}`);
}

/**
 * One proxy for all levels, so that each meets the store that the levels before it filled.
 * @param {import('./processes.mjs').Installation} place
 * @param {Map<number, import('./closed-loop.mjs').Speed>} direct
 */
async function measureGated(place, direct) {
  if (profileDir !== null) mkdirSync(profileDir, { recursive: true });
  const profiling = profileDir === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileDir}`];
  const proxy = await place.start({ nodeArgs: [...WITH_PROBE, ...profiling] });
  try {
    const measured = await measureLevels(place, proxy, direct);
    return { ...measured, exitCode: await proxy.kill('SIGTERM') };
  } catch (error) {
    await proxy.kill('SIGKILL');
    throw error;
  }
}

/**
 * @param {import('./processes.mjs').Installation} place
 * @param {{ url: string, pid: number }} proxy
 * @param {Map<number, import('./closed-loop.mjs').Speed>} direct
 */
async function measureLevels(place, proxy, direct) {
  const answers = new GatedAnswers();
  const target = { url: proxy.url, token: place.token };
  /** @type {Map<number, import('./report.mjs').Level>} */
  const levels = new Map();
  let sent = 0;
  for (const [connections, share] of LEVELS) {
    const calls = shareOf(share);
    await runGated(answers, { ...target, series: `warm-${connections}`, connections, calls: WARM_UP_CALLS });
    const level = await measureLevel(place, proxy.pid, () =>
      runGated(answers, { ...target, series: `gated-${connections}`, connections, calls }),
    );
    levels.set(connections, {
      ...level,
      calls,
      direct: /** @type {import('./closed-loop.mjs').Speed} */ (direct.get(connections)),
      cpuMsPerCall: rounded(level.cpuMs / calls, 3),
      loadCpuMsPerCall: rounded(level.loadCpuMs / calls, 3),
    });
    sent += calls + WARM_UP_CALLS;
  }
  const found = await lookUp(answers, target);
  const rssMiBWithBoot = memoryMiB(proxy.pid, 'VmHWM');
  const rssMiBMax = Math.max(...[...levels.values()].map((level) => level.rssMiBMax));
  return { levels, sent, answers, found, rssMiBMax, rssMiBWithBoot };
}

/**
 * @param {import('./processes.mjs').Installation} place
 * @param {number} pid of the proxy
 * @param {() => Promise<import('./closed-loop.mjs').Speed>} run
 */
async function measureLevel({ figuresFile }, pid, run) {
  await eventLoopFigures(pid, figuresFile);
  const memory = watchMemory(pid);
  const [proxyFrom, loadFrom] = [cpuMs(pid), cpuMs(process.pid)];
  const gated = await run();
  const [proxyUntil, loadUntil] = [cpuMs(pid), cpuMs(process.pid)];
  const rssMiBMax = memory.stop();
  const eventLoop = await eventLoopFigures(pid, figuresFile);
  return { gated, rssMiBMax, eventLoop, cpuMs: proxyUntil - proxyFrom, loadCpuMs: loadUntil - loadFrom };
}

/** Null when strace is missing. */
function traced() {
  if (!canTrace()) return null;
  return countSyncs(join(dir, 'traced'), tool.url, Math.min(TRACED_CALLS_MAX, Math.ceil(wanted / 4)));
}

/** @param {number} share */
const shareOf = (share) => Math.round(wanted * share);

const { calls: wanted, profileDir } = readOptions();
const dir = mkdtempSync(join(tmpdir(), 'countersign-bench-'));
const tool = await startTool();
try {
  process.exitCode = await bench();
} finally {
  tool.stop();
  rmSync(dir, { recursive: true, force: true });
}
