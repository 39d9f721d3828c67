/** The closed loop at 1, 16 and 64 connections, directly at the tool and through the proxy, and everything that is held against it afterwards. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { runClosedLoop, rounded } from './closed-loop.mjs';
import { GatedAnswers, lookUp, runGated } from './gated-load.mjs';
import { cpuMs, memoryMiB, thirdsOf, watchMemory } from './process-figures.mjs';
import { TOOL_KEY, WITH_PROBE, eventLoopFigures, installation } from './processes.mjs';
import { readRecorded } from './recorded.mjs';
import { fileSink, sinkLagMs, toldBySink } from './sink-file.mjs';
import { differences, sinkDifferences } from './verify.mjs';
import { directRequests } from './work.mjs';

/** Connections, and the share of the calls that is made with so many. */
const LEVELS = /** @type {const} */ ([
  [1, 0.1],
  [16, 0.3],
  [64, 0.6],
]);
/** Not timed, but checked like all others: what is compiled at its first use is not what a running proxy costs. */
const WARM_UP_CALLS_MAX = 200;

/** @typedef {{ calls: number, withSink: boolean, profileDir: string | null, others?: number | undefined }} Plan */
/** @typedef {Map<number, import('./closed-loop.mjs').Speed>} Speeds by connections */

/**
 * @param {string} dir
 * @param {import('./processes.mjs').Tool} tool
 * @param {Plan} plan
 */
export async function measureGatedPath(dir, tool, plan) {
  const sinkFile = plan.withSink ? join(dir, 'sink.ndjson') : null;
  const place = await installation(dir, tool.url, {
    others: plan.others,
    env: sinkFile === null ? {} : fileSink(sinkFile),
  });
  const { capabilities, policies } = place.definitions;
  console.log(
    `${plan.calls} gated calls; ${capabilities} capabilities, ${policies} policies, 10 of them in the shard.`,
  );
  const before = await recordedByAStart(place);
  const bytesBefore = place.databaseBytes();
  const direct = await measureDirect(tool.url, plan.calls);
  await tool.forget();
  const { levels, sent, answers, exitCode, found, ...measured } = await measureGated(place, direct, {
    ...plan,
    sinkFile,
  });
  const [counts, after] = [await tool.counts(), readRecorded(place.database)];
  const told = sinkFile === null ? null : await toldBySink(sinkFile);
  const problems = [
    ...differences({ calls: sent, answers, tool: counts, before, after, exitCode }),
    ...(told === null ? [] : sinkDifferences({ ...told, leaves: after.leaves, lagMs: measured.sinkLagMsEnd ?? 0 })),
  ];
  const inSink = told === null ? '' : ', each of them once in the file of the sink';
  return {
    problems,
    checked: `Checked: all ${sent} calls are completed (${found.open} looked up late, ${found.sampled} sampled), the tool ran each key once, ${after.leaves} leaves${inSink}.`,
    figures: {
      ...measured,
      levels,
      calls: sent,
      eventsPerCall: after.callEvents / after.calls,
      bytesPerCall: (place.databaseBytes() - bytesBefore) / sent,
    },
  };
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

/** @param {string} url of the tool @param {number} wanted @returns {Promise<Speeds>} */
async function measureDirect(url, wanted) {
  const speeds = new Map();
  for (const [connections, share] of LEVELS) {
    const loop = (/** @type {string} */ series, /** @type {number} */ calls) =>
      runClosedLoop({
        url,
        connections,
        calls,
        request: directRequests(TOOL_KEY, `${series}-${connections}`),
        answered: mustBeOk,
      });
    await loop('direct-warm', warmUpCalls(wanted));
    speeds.set(connections, await loop('direct', Math.round(wanted * share)));
  }
  return speeds;
}

/** @param {number} status @param {string} text */
function mustBeOk(status, text) {
  if (status !== 200) throw new Error(`the tool answered ${status}: ${text}`);
}

/** @param {number} wanted */
const warmUpCalls = (wanted) => Math.min(WARM_UP_CALLS_MAX, Math.ceil(wanted / 10));

/**
 * One proxy for all levels, so that each meets the store that the levels before it filled.
 * @param {import('./processes.mjs').Installation} place
 * @param {Speeds} direct
 * @param {Plan & { sinkFile: string | null }} plan
 */
async function measureGated(place, direct, { calls, profileDir, sinkFile }) {
  if (profileDir !== null) mkdirSync(profileDir, { recursive: true });
  const profiling = profileDir === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileDir}`];
  const proxy = await place.start({ nodeArgs: [...WITH_PROBE, ...profiling] });
  try {
    const measured = await measureLevels(place, proxy, { direct, calls });
    const sinkLagMsEnd = sinkFile === null ? null : await sinkLagMs(sinkFile, () => place.eventsOf(proxy.url));
    const target = { url: proxy.url, token: place.token };
    const found = await lookUp(measured.answers, target);
    const rssMiBWithBoot = memoryMiB(proxy.pid, 'VmHWM');
    return { ...measured, found, sinkLagMsEnd, rssMiBWithBoot, exitCode: await proxy.kill('SIGTERM') };
  } catch (error) {
    await proxy.kill('SIGKILL');
    throw error;
  }
}

/**
 * @param {import('./processes.mjs').Installation} place
 * @param {{ url: string, pid: number }} proxy
 * @param {{ direct: Speeds, calls: number }} plan
 */
async function measureLevels(place, proxy, { direct, calls: wanted }) {
  const answers = new GatedAnswers();
  const target = { url: proxy.url, token: place.token };
  /** @type {Map<number, import('./report.mjs').Level>} */
  const levels = new Map();
  let sent = 0;
  let samplesMiB = [0];
  for (const [connections, share] of LEVELS) {
    const calls = Math.round(wanted * share);
    const warmUp = warmUpCalls(wanted);
    await runGated(answers, { ...target, series: `warm-${connections}`, connections, calls: warmUp });
    const { memory, ...level } = await measureLevel(place, proxy.pid, () =>
      runGated(answers, { ...target, series: `gated-${connections}`, connections, calls }),
    );
    samplesMiB = memory.samplesMiB;
    levels.set(connections, {
      ...level,
      calls,
      direct: /** @type {import('./closed-loop.mjs').Speed} */ (direct.get(connections)),
      rssMiBMax: memory.maxMiB,
      cpuMsPerCall: rounded(level.cpuMs / calls, 3),
      loadCpuMsPerCall: rounded(level.loadCpuMs / calls, 3),
    });
    sent += calls + warmUp;
  }
  const rssMiBMax = Math.max(...[...levels.values()].map((level) => level.rssMiBMax));
  return { levels, sent, answers, rssMiBMax, rssMiBThirds: thirdsOf(samplesMiB) };
}

/**
 * @param {import('./processes.mjs').Installation} place
 * @param {number} pid of the proxy
 * @param {() => Promise<import('./closed-loop.mjs').Speed>} run
 */
async function measureLevel({ figuresFile }, pid, run) {
  await eventLoopFigures(pid, figuresFile);
  const watch = watchMemory(pid);
  const [proxyFrom, loadFrom] = [cpuMs(pid), cpuMs(process.pid)];
  const gated = await run();
  const [proxyUntil, loadUntil] = [cpuMs(pid), cpuMs(process.pid)];
  const memory = watch.stop();
  const eventLoop = await eventLoopFigures(pid, figuresFile);
  return { gated, memory, eventLoop, cpuMs: proxyUntil - proxyFrom, loadCpuMs: loadUntil - loadFrom };
}
