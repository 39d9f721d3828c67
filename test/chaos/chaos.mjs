/**
 * `npm run chaos -- --minutes N --seed S`: many calls in flight, people who decide, a tool that fails in every way, and a proxy that
 * is killed every few seconds: at random moments, at random crash points, and while it recovers from the last time. Every caller asks
 * again under its key. In the end nobody kills any more, what is open may settle, and the record is held against the tool's count.
 *
 *   node test/chaos/chaos.mjs [--minutes N] [--lives N] [--seed S] [--callers N] [--client countersign|naive]
 *
 * The last line is `{"chaos":{"kills","inFlight","duplicates","lost","stuck","seed"}}`; the exit code is 1 when anything was
 * duplicated, lost or stuck. `--client naive` puts a service that simply retries in the place of the proxy: it must fail.
 */
import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Clients } from './clients.mjs';
import { naiveTarget } from './naive-target.mjs';
import { killAll, launch } from './programs.mjs';
import { POINTS, POINT_OF_RECOVERY, proxyTarget } from './proxy-target.mjs';
import { Random } from './random.mjs';
import { isEnded, judge } from './verdict.mjs';

const TOOL = fileURLToPath(new URL('./tool.mjs', import.meta.url));

/** A process that is not up by then has a problem of its own. */
const STARTS_WITHIN_MS = 60_000;
/** Attempt deadline, quiesce, looks, and thousands of calls that wait for theirs. */
const SETTLES_WITHIN_MS = 120_000;
const LIVES_MS_MAX = 3_000;
const PROBLEMS_SHOWN = 20;

/** @typedef {import('./proxy-target.mjs').Target} Target */

function readOptions() {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '1' },
      lives: { type: 'string', default: '0' },
      seed: { type: 'string' },
      callers: { type: 'string', default: '160' },
      client: { type: 'string', default: 'countersign' },
    },
  });
  const minutes = Number(values.minutes);
  const seed = Number(values.seed ?? randomInt(1, 2 ** 31));
  const [callers, lives] = [Number(values.callers), Number(values.lives)];
  if (
    !(minutes > 0) ||
    !Number.isInteger(seed) ||
    !(callers >= 1) ||
    !(lives >= 0) ||
    !/^(countersign|naive)$/.test(values.client)
  ) {
    process.stderr.write('chaos.mjs [--minutes N] [--lives N] [--seed S] [--callers N] [--client countersign|naive]\n');
    process.exit(2);
  }
  return { minutes, lives, seed, callers, isNaive: values.client === 'naive' };
}

/** @param {string} text */
const say = (text) => void process.stderr.write(`${text}\n`);

/**
 * Kills it until the time is over and it was up often enough.
 * @param {Target} target @param {Clients} clients @param {Random} random @param {{ end: number, lives: number }} until
 */
async function killOnAndOn(target, clients, random, { end, lives }) {
  /** @type {Set<string>} */
  const inFlight = new Set();
  let [kills, lived] = [0, 0];
  while (performance.now() < end || lived < lives) {
    const program = target.launch();
    const draw = random.fraction();
    if (draw < 0.3) await pause(random.whole(50, 800));
    else if (await live(program, target, clients, random, draw)) lived += 1;
    clients.isDown();
    await program.end('SIGKILL');
    target.crashAt(null);
    kills += 1;
    for (const id of target.inFlight()) inFlight.add(id);
    if (kills % 25 === 0)
      say(`${kills} kills, ${clients.calls.length} calls, ${inFlight.size} of them in flight when it died`);
  }
  return { kills, inFlight: inFlight.size };
}

/**
 * Up to the moment of its death, or to its death. False when it has not come up.
 * @param {import('./programs.mjs').Program} program @param {Target} target @param {Clients} clients @param {Random} random
 * @param {number} draw
 */
async function live(program, target, clients, random, draw) {
  if (draw < 0.4) target.crashAt({ point: POINT_OF_RECOVERY, count: random.whole(1, 20) });
  const url = await Promise.race([program.ready.catch(() => null), pause(STARTS_WITHIN_MS, null, { ref: false })]);
  // It may have died in its recovery, as it was told to.
  if (url === null) return false;
  clients.isUp(url);
  // Counted in calls, so that a slow machine has as many on the wire as a quick one.
  const lived = clients.taken(random.whole(60, 260));
  if (draw >= 0.4 && draw < 0.7) target.crashAt({ point: random.oneOf(POINTS), count: random.whole(1, 150) });
  await Promise.race([program.exited, lived, pause(LIVES_MS_MAX, null, { ref: false })]);
  return true;
}

/** @param {Target} target */
async function settled(target) {
  const until = performance.now() + SETTLES_WITHIN_MS;
  while (performance.now() < until) {
    const records = await target.records();
    if (records.every(isEnded)) return;
    await pause(500);
  }
}

async function main() {
  const { minutes, lives, seed, callers, isNaive } = readOptions();
  say(`seed ${seed}`);
  const dir = mkdtempSync(join(tmpdir(), 'countersign-chaos-'));
  const tool = launch([TOOL], { TOOL_SEED: String(seed) });
  const toolUrl = await tool.ready;
  const target = isNaive ? naiveTarget(toolUrl) : await proxyTarget(dir, toolUrl);
  const clients = new Clients(target, new Random(seed));
  const work = clients.run(callers);
  const until = { end: performance.now() + minutes * 60_000, lives };
  const counted = await killOnAndOn(target, clients, new Random(seed + 1), until);

  const last = target.launch();
  clients.isUp(await last.ready);
  clients.end();
  await work;
  await settled(target);
  const records = await target.records();
  await last.end('SIGTERM');
  const stats = /** @type {import('./tool.mjs').ToolStats} */ (await (await fetch(`${toolUrl}/stats`)).json());
  await tool.end('SIGKILL');

  const found = judge(clients.calls, records, stats);
  found.lost.push(...clients.broken, ...target.brokenRecords());
  for (const [kind, problems] of Object.entries(found)) {
    for (const problem of problems.slice(0, PROBLEMS_SHOWN)) say(`${kind}: ${problem}`);
  }
  const { duplicates, lost, stuck } = found;
  const sums = { duplicates: duplicates.length, lost: lost.length, stuck: stuck.length };
  process.stdout.write(`${JSON.stringify({ chaos: { ...counted, ...sums, seed } })}\n`);
  const isSound = sums.duplicates + sums.lost + sums.stuck === 0;
  // What failed is kept, to be looked at.
  if (isSound || isNaive) rmSync(dir, { recursive: true, force: true });
  else say(`the data directory is kept: ${dir}`);
  process.exitCode = isSound ? 0 : 1;
}

process.once('SIGINT', () => {
  killAll();
  process.exit(130);
});
try {
  await main();
} catch (error) {
  say(error instanceof Error ? String(error.stack) : 'something that is no error');
  process.exitCode = 1;
}
killAll();
