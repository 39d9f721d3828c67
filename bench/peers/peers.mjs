/**
 * `npm run bench:peers`: the proxy beside two engines for durable execution on the same work, in alternating rounds with one load program.
 *
 *   node bench/peers/peers.mjs [--seconds N] [--rounds N]
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { medianOf, ratioOf } from '../ratios.mjs';
import { killAll } from '../processes.mjs';
import { canTrace } from '../sync-trace.mjs';
import { installPeers } from './install.mjs';
import { startCountersign } from './proxy.mjs';
import { Rounds } from './rounds.mjs';
import { startDbos, startRestate, startService } from './services.mjs';
import { syncsPerCall } from './syncs.mjs';
import { wrkVersion } from './wrk.mjs';

const LEVELS = [1, 16, 64];
const WARM_UP_CONNECTIONS = 64;
const WARM_UP_SECONDS_MIN = 3;
const TRACED = { connections: 16, seconds: 3 };

/** @typedef {import('./services.mjs').Candidate} Candidate */
/** @typedef {{ executions: number, repeatedKeys: number }} ToolCounts */

function readOptions() {
  const { values } = parseArgs({ options: { seconds: { type: 'string' }, rounds: { type: 'string' } } });
  const [seconds, rounds] = [Number(values.seconds ?? 6), Number(values.rounds ?? 5)];
  if (!(Number.isInteger(seconds) && seconds > 0 && Number.isInteger(rounds) && rounds > 0)) {
    throw new Error('--seconds and --rounds take whole numbers from 1');
  }
  return { seconds, rounds, levels: LEVELS };
}

/** @returns {Promise<number>} the exit code */
async function bench() {
  const tool = await startService('tool.mjs');
  stops.push(tool.stop);
  const toolUrl = tool.ready.listening;
  const counts = async () => /** @type {ToolCounts} */ (await (await fetch(`${toolUrl}/counts`)).json());
  const restate = await startRestate(folder('restate'), toolUrl);
  stops.push(restate.stop);
  const dbos = await startDbos(folder('dbos'), toolUrl);
  stops.push(dbos.stop);
  const countersign = await startCountersign(folder('countersign'), toolUrl);
  stops.push(countersign.stop);
  const direct = {
    name: 'direct',
    url: `${toolUrl}/refund`,
    pids: [tool.pid],
    version: 'node:http',
    durability: {},
    stop: async () => {},
  };
  const candidates = [direct, restate, dbos, countersign];
  printCandidates(candidates);
  const rounds = new Rounds(counts);
  for (const candidate of candidates) {
    await rounds.shoot(candidate, {
      connections: WARM_UP_CONNECTIONS,
      seconds: Math.max(WARM_UP_SECONDS_MIN, plan.seconds),
    });
  }
  await rounds.run(candidates, plan);
  const syncs = await measureSyncs([restate, dbos, countersign], rounds);
  const problems = [...rounds.problems, ...(await countersign.check(rounds.executions.get('countersign') ?? 0))];
  report(candidates, rounds, syncs, problems);
  return problems.length === 0 ? 0 : 1;
}

/** @param {string} name */
function folder(name) {
  const path = join(dir, name);
  mkdirSync(path);
  return path;
}

/** @param {readonly Candidate[]} candidates */
function printCandidates(candidates) {
  console.log(
    `${wrk}, one thread; ${plan.rounds} rounds of ${plan.seconds} s at ${plan.levels.join(', ')} connections; Node ${process.version}`,
  );
  const [load = 0] = loadavg();
  console.log(
    `Load of the machine before: ${load.toFixed(2)}${load > 0.5 ? ', which is too busy for figures to be compared' : ''}.`,
  );
  for (const { name, version, durability } of candidates) {
    console.log(`${name.padEnd(12)} ${version}`);
    for (const [setting, value] of Object.entries(durability)) console.log(`${''.padEnd(15)}${setting} = ${value}`);
  }
  console.log('');
}

/**
 * @param {readonly Candidate[]} candidates
 * @param {Rounds} rounds
 * @returns {Promise<Record<string, number> | null>} null: strace is missing
 */
async function measureSyncs(candidates, rounds) {
  if (!canTrace()) return null;
  /** @type {Record<string, number>} */
  const syncs = {};
  for (const candidate of candidates) {
    syncs[candidate.name] = await syncsPerCall(candidate.pids, join(dir, 'trace.txt'), async () => {
      const { executions } = await rounds.shoot(candidate, TRACED);
      return executions;
    });
  }
  return syncs;
}

/**
 * @param {readonly Candidate[]} candidates
 * @param {Rounds} rounds
 * @param {Record<string, number> | null} syncs
 * @param {readonly string[]} problems
 */
function report(candidates, { shots, executions }, syncs, problems) {
  console.log(
    '\nMedians of the rounds; in brackets how much better the proxy is: more answers per second, shorter p50, less CPU.',
  );
  /** @type {Record<string, Record<string, unknown>>} */
  const connections = {};
  for (const level of plan.levels) {
    /** @type {Record<string, unknown>} */
    const row = {};
    for (const { name } of candidates) {
      const figures = medianOf(shots, name, level);
      const ratio = name === 'countersign' ? null : ratioOf(shots, 'countersign', name, level);
      row[name] = { ...figures, ...(ratio === null ? {} : { countersignRatio: ratio }) };
      const beside = ratio === null ? '' : `  (${ratio.rate} ×, p50 ${ratio.p50} ×, CPU ${ratio.cpu} ×)`;
      console.log(
        `${String(level).padStart(2)}  ${name.padEnd(11)}  ${String(figures.rate).padStart(9)}/s  p50 ${figures.p50Ms} ms  p99 ${figures.p99Ms} ms  CPU ${figures.cpuMsPerCall} ms${beside}`,
      );
    }
    connections[String(level)] = row;
  }
  console.log(
    syncs === null
      ? 'Syncs: not measured, because strace(1) is not installed.'
      : `Syncs per call at ${TRACED.connections} connections, below strace: ${Object.entries(syncs)
          .map(([name, perCall]) => `${name} ${perCall.toFixed(2)}`)
          .join(', ')}.`,
  );
  for (const problem of problems) console.log(`DIFFERS  ${problem}`);
  if (problems.length === 0) {
    console.log(
      'Checked: every answer was below 400, the tool carried out what was answered and no key twice, and every call of the proxy is completed.',
    );
  }
  console.log(
    JSON.stringify({
      bench: 'peers',
      ...plan,
      connections,
      syncsPerCall: syncs,
      executions: Object.fromEntries(executions),
    }),
  );
}

const plan = readOptions();
const wrk = wrkVersion();
installPeers();
const dir = mkdtempSync(join(tmpdir(), 'countersign-peers-'));
chmodSync(dir, 0o711);
/** @type {(() => Promise<unknown>)[]} */
const stops = [];

async function cleanUp() {
  for (const stop of stops.splice(0).toReversed()) {
    await stop().catch((/** @type {unknown} */ error) => console.error(error));
  }
  killAll();
  rmSync(dir, { recursive: true, force: true });
}

for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
  process.once(signal, () => void cleanUp().finally(() => process.exit(1)));
}
try {
  process.exitCode = await bench();
} finally {
  await cleanUp();
}
