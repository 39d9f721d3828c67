/** Rates with many events in the store beside those with none: proxies of their own, under load by turns, in alternating rounds. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { GatedAnswers, lookUp, runGated } from './gated-load.mjs';
import { prefill } from './prefill.mjs';
import { cpuMs } from './process-figures.mjs';
import { installation } from './processes.mjs';
import { medianOf, ratioOf } from './ratios.mjs';
import { readRecorded } from './recorded.mjs';
import { recover } from './recovery.mjs';

const LEVELS = /** @type {const} */ ([
  [1, 0.1],
  [16, 0.3],
  [64, 0.6],
]);
const EVENTS_PER_CALL = 7;
const EMPTY = '0';

/**
 * @typedef {object} Plan
 * @property {readonly number[]} sizes events to begin with
 * @property {number} rounds
 * @property {number} calls per store and round
 * @property {number | undefined} [others] capabilities beside the one that is called
 * @property {number} inFlight calls when each proxy is killed at the end
 *
 * @typedef {object} PrefilledFigures
 * @property {number} events in the store before the load
 * @property {number | null} prefillSeconds
 * @property {Record<string, ReturnType<typeof medianOf> & { toEmpty: ReturnType<typeof ratioOf> | null }>} connections medians
 * @property {import('./recovery.mjs').Recovery | null} recovery null: of the empty store
 *
 * @typedef {object} Store
 * @property {string} name
 * @property {import('./processes.mjs').Installation} place
 * @property {import('../examples/refunds/stack.mjs').Running} proxy
 * @property {GatedAnswers} answers
 * @property {number} from first position that the load writes
 * @property {number | null} prefillSeconds
 */

/**
 * @param {string} dir
 * @param {import('./processes.mjs').Tool} tool
 * @param {Plan} plan
 * @returns {Promise<{ stores: Record<string, PrefilledFigures>, problems: string[] }>} by the size asked for, `0` among them
 */
export async function comparePrefilled(dir, tool, plan) {
  /** @type {Store[]} */
  const stores = [];
  try {
    for (const size of [0, ...plan.sizes])
      stores.push(await openStore(join(dir, `store-${size}`), tool, { size, others: plan.others }));
    await tool.forget();
    const shots = await shootAll(stores, plan);
    return await close(stores, shots, { tool, plan });
  } finally {
    for (const { proxy } of stores) await proxy.kill('SIGKILL');
    rmSync(dir, { recursive: true, force: true });
  }
}

/** @param {string} dir @param {import('./processes.mjs').Tool} tool @param {{ size: number, others: number | undefined }} what @returns {Promise<Store>} */
async function openStore(dir, tool, { size, others }) {
  const place = await installation(dir, tool.url, { others });
  const filled = size === 0 ? null : await prefill(place, size);
  if (filled !== null) {
    console.log(
      `Prefilled with ${filled.events} events of ${filled.calls} calls in ${filled.seconds.toFixed(0)} s; ${(place.databaseBytes() / 2 ** 30).toFixed(2)} GiB.`,
    );
  }
  const proxy = await place.start({ nodeArgs: [] });
  const from = await place.eventsOf(proxy.url);
  return {
    name: String(size),
    place,
    proxy,
    answers: new GatedAnswers(),
    from,
    prefillSeconds: filled?.seconds ?? null,
  };
}

/** @param {readonly Store[]} stores @param {Plan} plan */
async function shootAll(stores, { rounds, calls }) {
  /** @type {import('./ratios.mjs').Shot[]} */
  const shots = [];
  // Round 0 is not timed: what is compiled and cached at its first use would count against whoever comes first.
  for (let round = 0; round <= rounds; round += 1) {
    for (const [connections, share] of LEVELS) {
      const turn = round % stores.length;
      for (const store of [...stores.slice(turn), ...stores.slice(0, turn)]) {
        const shot = await shoot(store, { round, connections, calls: Math.max(1, Math.round(calls * share)) });
        if (round > 0) shots.push(shot);
      }
    }
  }
  return shots;
}

/** @param {Store} store @param {{ round: number, connections: number, calls: number }} load */
async function shoot({ name, place, proxy, answers }, { round, connections, calls }) {
  const cpuFrom = cpuMs(proxy.pid);
  const speed = await runGated(answers, {
    url: proxy.url,
    token: place.token,
    series: `r${round}-${connections}`,
    connections,
    calls,
  });
  return { ...speed, name, connections, round, requests: calls, cpuMsPerCall: (cpuMs(proxy.pid) - cpuFrom) / calls };
}

/**
 * Looks up what is open, kills and recovers each proxy with a full store, and holds the records against what was sent.
 * @param {readonly Store[]} stores
 * @param {readonly import('./ratios.mjs').Shot[]} shots
 * @param {{ tool: import('./processes.mjs').Tool, plan: Plan }} run
 */
async function close(stores, shots, { tool, plan }) {
  /** @type {string[]} */
  const problems = [];
  /** @type {Record<string, PrefilledFigures>} */
  const figures = {};
  for (const { answers, proxy, place } of stores) await lookUp(answers, { url: proxy.url, token: place.token });
  const sent = stores.reduce((sum, { answers }) => sum + answers.calls, 0);
  const { executions, repeatedKeys } = await tool.counts();
  if (executions !== sent || repeatedKeys > 0) {
    problems.push(`prefilled: ${sent} calls were sent, the tool carried out ${executions}, ${repeatedKeys} keys twice`);
  }
  for (const store of stores) {
    const { name, place, proxy, from, answers, prefillSeconds } = store;
    const inFlight = name === EMPTY ? 0 : plan.inFlight;
    const recovered = inFlight === 0 ? null : await recover(place, proxy, { tool, inFlight, from });
    if (recovered === null) await proxy.kill('SIGTERM');
    problems.push(...answers.problems, ...(recovered?.problems ?? []), ...recordedDifferences(store, inFlight));
    const connections = LEVELS.map(([count]) => {
      const toEmpty = name === EMPTY ? null : ratioOf(shots, name, EMPTY, count);
      return [String(count), { ...medianOf(shots, name, count), toEmpty }];
    });
    figures[name] = {
      events: from,
      prefillSeconds,
      connections: Object.fromEntries(connections),
      recovery: recovered?.recovery ?? null,
    };
  }
  return { stores: figures, problems };
}

/** A killed call has more events than others: it was unknown for a while. @param {Store} store @param {number} killed */
function recordedDifferences({ name, place, from, answers }, killed) {
  const { calls, statuses, dense, fewestEvents } = readRecorded(place.database, from);
  const wanted = answers.calls + killed;
  const isWhole = calls === wanted && statuses['completed'] === wanted && dense && fewestEvents === EVENTS_PER_CALL;
  if (isWhole && answers.completed === answers.calls) return [];
  return [`store ${name}: ${calls} calls of ${wanted}, ${JSON.stringify(statuses)}, ${fewestEvents} events at least`];
}
