/** A closed loop: every connection sends its next request when the answer to the last one has been read in full. */
import { Client } from 'undici';

/**
 * @typedef {{ path: string, headers: Record<string, string>, body: string }} LoopRequest
 * @typedef {{ rate: number, p50Ms: number, p99Ms: number }} Speed
 * @typedef {object} LoopOptions
 * @property {string} url
 * @property {number} connections
 * @property {number} calls
 * @property {(index: number) => LoopRequest} request
 * @property {(status: number, text: string) => void} answered
 */

/**
 * Sends all calls and measures each from the moment it is sent to the last byte of its answer.
 * @param {LoopOptions} options
 * @returns {Promise<Speed>}
 */
export async function runClosedLoop({ url, connections, calls, request, answered }) {
  const latenciesMs = new Float64Array(calls);
  let next = 0;
  const clients = Array.from({ length: connections }, () => new Client(url, { pipelining: 1 }));
  const startedAt = performance.now();
  await Promise.all(
    clients.map(async (client) => {
      while (next < calls) {
        const index = next;
        next += 1;
        const { path, headers, body } = request(index);
        const sentAt = performance.now();
        const response = await client.request({ method: 'POST', path, headers, body });
        const text = await response.body.text();
        latenciesMs[index] = performance.now() - sentAt;
        answered(response.statusCode, text);
      }
    }),
  );
  const elapsedMs = performance.now() - startedAt;
  await Promise.all(clients.map((client) => client.close()));
  latenciesMs.sort();
  return {
    rate: rounded((calls / elapsedMs) * 1000, 1),
    p50Ms: rounded(quantile(latenciesMs, 0.5), 3),
    p99Ms: rounded(quantile(latenciesMs, 0.99), 3),
  };
}

/** @param {ArrayLike<number>} sorted @param {number} part */
export const quantile = (sorted, part) => sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? 0;

/** @param {number} value @param {number} digits */
export const rounded = (value, digits) => Number(value.toFixed(digits));
