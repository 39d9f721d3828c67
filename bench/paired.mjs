/**
 * `npm run bench:paired -- DIR`: the gated path of this tree beside that of another built tree of the product, usually a worktree of the
 * commit before a change. Both proxies run all the time and are under load by turns, in rounds whose order turns, so that what the machine
 * does meanwhile happens to both; a ratio is taken within a round, then the median. Prints a table and, last, one JSON line.
 *
 *   git worktree add --detach ../before COMMIT && (cd ../before && npm ci && npm run build)
 *   node bench/paired.mjs ../before [--calls N] [--rounds N]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { GatedAnswers, lookUp, runGated } from './gated-load.mjs';
import { cpuMs, memoryMiB } from './process-figures.mjs';
import { installation, killAll, startTool } from './processes.mjs';
import { medianOf, ratioOf } from './ratios.mjs';

const LEVELS = /** @type {const} */ ([
  [1, 0.15],
  [16, 0.35],
  [64, 0.5],
]);

/**
 * @typedef {object} Candidate
 * @property {'this' | 'other'} name
 * @property {import('./processes.mjs').Installation} place
 * @property {import('../examples/refunds/stack.mjs').Running} proxy
 * @property {GatedAnswers} answers
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { calls: { type: 'string', default: '4000' }, rounds: { type: 'string', default: '5' } },
});
const [calls, rounds] = [Number(values.calls), Number(values.rounds)];
const [other] = positionals;
if (other === undefined || !(calls >= 100) || !(rounds >= 1)) {
  process.stderr.write('node bench/paired.mjs DIR [--calls N per tree and round] [--rounds N]\n');
  process.exit(2);
}

const dir = mkdtempSync(join(tmpdir(), 'countersign-paired-'));
const tool = await startTool();
/** @type {Candidate[]} */
const candidates = [];
process.once('SIGINT', () => process.exit(130));
process.once('exit', killAll);
try {
  /** @type {typeof import('./processes.mjs')} */
  const before = await import(pathToFileURL(resolve(other, 'bench/processes.mjs')).href);
  candidates.push(await start('this', await installation(join(dir, 'this'), tool.url)));
  candidates.push(await start('other', await before.installation(join(dir, 'other'), tool.url)));
  process.exitCode = report(await shootAll(), await problemsOf());
} finally {
  for (const { proxy } of candidates) await proxy.kill('SIGTERM');
  tool.stop();
  rmSync(dir, { recursive: true, force: true });
}

/** @param {Candidate['name']} name @param {import('./processes.mjs').Installation} place @returns {Promise<Candidate>} */
async function start(name, place) {
  return { name, place, proxy: await place.start({ nodeArgs: [] }), answers: new GatedAnswers() };
}

/** Round 0 is not timed: what is compiled and cached at its first use would count against whoever comes first. */
async function shootAll() {
  /** @type {import('./ratios.mjs').Shot[]} */
  const shots = [];
  for (let round = 0; round <= rounds; round += 1) {
    for (const [connections, share] of LEVELS) {
      for (const candidate of round % 2 === 0 ? candidates : candidates.toReversed()) {
        const shot = await shoot(candidate, { round, connections, requests: Math.round(calls * share) });
        if (round > 0) shots.push(shot);
      }
    }
  }
  return shots;
}

/** @param {Candidate} candidate @param {{ round: number, connections: number, requests: number }} load */
async function shoot({ name, place, proxy, answers }, { round, connections, requests }) {
  const cpuFrom = cpuMs(proxy.pid);
  const series = `${name}-${round}-${connections}`;
  const target = { url: proxy.url, token: place.token };
  const speed = await runGated(answers, { ...target, series, connections, calls: requests });
  return { ...speed, name, connections, round, requests, cpuMsPerCall: (cpuMs(proxy.pid) - cpuFrom) / requests };
}

async function problemsOf() {
  for (const { answers, proxy, place } of candidates) await lookUp(answers, { url: proxy.url, token: place.token });
  const { executions, repeatedKeys } = await tool.counts();
  const sent = candidates.reduce((sum, { answers }) => sum + answers.calls, 0);
  const problems = candidates.flatMap(({ answers }) => answers.problems);
  if (executions === sent && repeatedKeys === 0) return problems;
  return [...problems, `${sent} calls were sent, the tool carried out ${executions}, ${repeatedKeys} keys twice`];
}

/** @param {readonly import('./ratios.mjs').Shot[]} shots @param {readonly string[]} problems @returns {number} the exit code */
function report(shots, problems) {
  /** @type {Record<string, unknown>} */
  const connections = {};
  for (const [count] of LEVELS) {
    const [own, others] = [medianOf(shots, 'this', count), medianOf(shots, 'other', count)];
    const ratio = ratioOf(shots, 'this', 'other', count);
    connections[count] = { this: own, other: others, ratio };
    const line = (/** @type {typeof own} */ one) => `${one.rate}/s, p50 ${one.p50Ms} ms, CPU ${one.cpuMsPerCall} ms`;
    console.log(`${String(count).padStart(3)}  this ${line(own)}; other ${line(others)}`);
    console.log(`     ratios: rate ${ratio.rate}, p50 ${ratio.p50}, CPU ${ratio.cpu}; above 1 this tree is better`);
  }
  const rssMiB = Object.fromEntries(candidates.map(({ name, proxy }) => [name, memoryMiB(proxy.pid, 'VmHWM')]));
  for (const problem of problems) console.log(problem);
  console.log(JSON.stringify({ bench: 'paired', rounds, calls, connections, rssMiB, problems: problems.length }));
  return problems.length === 0 ? 0 : 1;
}
