/** From shots to medians: of each candidate's figures, and of the ratio of two candidates within the same round. */

/**
 * @typedef {object} Shot one candidate under load once
 * @property {string} name
 * @property {number} connections
 * @property {number} round
 * @property {number} rate answers per second
 * @property {number} p50Ms
 * @property {number} p99Ms
 * @property {number} cpuMsPerCall user and system time of all its processes
 * @property {number} requests
 */

/** @param {readonly number[]} values @returns {number} */
export function median(values) {
  const sorted = values.toSorted((left, right) => left - right);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  return (upper + lower) / 2;
}

/**
 * @param {readonly Shot[]} shots
 * @param {string} name
 * @param {number} connections
 */
export function medianOf(shots, name, connections) {
  const own = shots.filter((shot) => shot.name === name && shot.connections === connections);
  return {
    rate: rounded(median(own.map(({ rate }) => rate)), 1),
    p50Ms: rounded(median(own.map(({ p50Ms }) => p50Ms)), 3),
    p99Ms: rounded(median(own.map(({ p99Ms }) => p99Ms)), 3),
    cpuMsPerCall: rounded(median(own.map(({ cpuMsPerCall }) => cpuMsPerCall)), 3),
    requests: own.reduce((sum, { requests }) => sum + requests, 0),
  };
}

/**
 * Above 1 the first is better: more answers per second, a shorter wait, or less work of the processors.
 * @param {readonly Shot[]} shots
 * @param {string} first
 * @param {string} second
 * @param {number} connections
 */
export function ratioOf(shots, first, second, connections) {
  const of = (/** @type {string} */ name) =>
    new Map(
      shots.filter((shot) => shot.name === name && shot.connections === connections).map((shot) => [shot.round, shot]),
    );
  const others = of(second);
  const pairs = [...of(first)].flatMap(([round, one]) => {
    const other = others.get(round);
    return other === undefined ? [] : [{ one, other }];
  });
  return {
    rate: three(median(pairs.map(({ one, other }) => one.rate / other.rate))),
    p50: three(median(pairs.map(({ one, other }) => other.p50Ms / one.p50Ms))),
    cpu: three(median(pairs.map(({ one, other }) => other.cpuMsPerCall / one.cpuMsPerCall))),
  };
}

/** @param {number} value @param {number} digits */
const rounded = (value, digits) => (Number.isFinite(value) ? Number(value.toFixed(digits)) : null);

/** A ratio may be far below 1: three digits, wherever they stand. @param {number} value */
const three = (value) => (Number.isFinite(value) ? Number(value.toPrecision(3)) : null);
