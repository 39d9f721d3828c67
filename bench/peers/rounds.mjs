/** Rounds of load: every candidate at every number of connections, in an order that turns from round to round. */
import { setTimeout as pause } from 'node:timers/promises';
import { cpuMs, treeOf } from '../process-figures.mjs';
import { postWithWrk } from './wrk.mjs';

const POLL_MS = 100;
/** A busy machine may let a process wait that long. */
const SETTLED_MS = 1500;
const SETTLE_TIMEOUT_MS = 30_000;

/**
 * @typedef {import('../ratios.mjs').Shot & { executions: number }} Shot with what the tool carried out meanwhile
 */

export class Rounds {
  /** @type {Shot[]} */
  shots = [];
  /** @type {string[]} */
  problems = [];
  /** Carried out by the tool, by candidate. @type {Map<string, number>} */
  executions = new Map();
  #shotsMade = 0;

  /** @param {() => Promise<{ executions: number, repeatedKeys: number }>} counts of the tool */
  constructor(counts) {
    this.counts = counts;
  }

  /**
   * @param {readonly import('./services.mjs').Candidate[]} candidates
   * @param {{ rounds: number, seconds: number, levels: readonly number[] }} plan
   */
  async run(candidates, { rounds, seconds, levels }) {
    for (let round = 1; round <= rounds; round += 1) {
      for (const connections of levels) {
        const turn = (round - 1) % candidates.length;
        for (const candidate of [...candidates.slice(turn), ...candidates.slice(0, turn)]) {
          const shot = await this.shoot(candidate, { connections, seconds });
          this.shots.push({ ...shot, round });
          console.log(
            `round ${round}  ${String(connections).padStart(2)}  ${candidate.name.padEnd(11)}  ${shot.rate.toFixed(1).padStart(8)}/s  p50 ${shot.p50Ms.toFixed(2)} ms  p99 ${shot.p99Ms.toFixed(2)} ms  CPU ${shot.cpuMsPerCall.toFixed(2)} ms`,
          );
        }
      }
    }
  }

  /**
   * @param {import('./services.mjs').Candidate} candidate
   * @param {{ connections: number, seconds: number }} load
   * @returns {Promise<Omit<Shot, 'round'>>}
   */
  async shoot(candidate, { connections, seconds }) {
    this.#shotsMade += 1;
    const before = await this.counts();
    const cpuFrom = cpuOf(candidate);
    const load = await postWithWrk(candidate, { series: `s${this.#shotsMade}-`, connections, seconds });
    const after = await this.#settled(before.executions + load.requests + connections);
    // The answer of the last one is written when the tool has done its part.
    await pause(POLL_MS);
    const cpu = cpuOf(candidate) - cpuFrom;
    const executions = after.executions - before.executions;
    this.executions.set(candidate.name, (this.executions.get(candidate.name) ?? 0) + executions);
    this.#look(candidate.name, connections, load, executions, after.repeatedKeys - before.repeatedKeys);
    return {
      name: candidate.name,
      connections,
      rate: load.requests / (load.durationUs / 1e6),
      p50Ms: load.p50Us / 1000,
      p99Ms: load.p99Us / 1000,
      cpuMsPerCall: cpu / Math.max(1, executions),
      requests: load.requests,
      executions,
    };
  }

  /**
   * What wrk leaves on its way when its time is over is carried out all the same: at most one call per connection.
   * @param {string} name
   * @param {number} connections
   * @param {import('./wrk.mjs').Load} load
   * @param {number} executions
   * @param {number} repeatedKeys
   */
  #look(name, connections, { requests, notOk, broken, timeouts }, executions, repeatedKeys) {
    const where = `${name} at ${connections}`;
    if (requests === 0) this.problems.push(`${where}: no answer`);
    if (notOk + broken + timeouts > 0) {
      this.problems.push(
        `${where}: ${notOk} answers of 400 or more, ${broken} broken connections, ${timeouts} timeouts`,
      );
    }
    if (executions < requests || executions > requests + connections) {
      this.problems.push(`${where}: ${requests} answers, but the tool carried out ${executions}`);
    }
    if (repeatedKeys > 0) this.problems.push(`${where}: the tool saw ${repeatedKeys} keys again`);
  }

  /**
   * The counts when all that was sent has arrived, or nothing has come for a while.
   * @param {number} expected executions when every connection had one more call on its way
   */
  async #settled(expected) {
    const giveUpAt = Date.now() + SETTLE_TIMEOUT_MS;
    let last = await this.counts();
    let since = Date.now();
    while (last.executions < expected && Date.now() - since < SETTLED_MS) {
      if (Date.now() > giveUpAt) throw new Error('the tool is still called though the load has ended');
      await pause(POLL_MS);
      const now = await this.counts();
      if (now.executions !== last.executions) since = Date.now();
      last = now;
    }
    return last;
  }
}

/** @param {import('./services.mjs').Candidate} candidate */
const cpuOf = ({ pids }) => pids.flatMap(treeOf).reduce((sum, pid) => sum + cpuMs(pid), 0);
