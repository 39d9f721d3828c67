/** The proxy as a candidate: an installation like that of the ordinary bench, with the peers' refund as its capability. */
import { PEOPLE } from '../../examples/refunds/stack.mjs';
import { installation } from '../processes.mjs';
import { readRecorded } from '../recorded.mjs';
import { PEERS_DIR } from './install.mjs';

const EVENTS_PER_CALL = 7;

/**
 * @param {string} dir
 * @param {string} toolUrl
 * @returns {Promise<import('./services.mjs').Candidate & { check: (executions: number) => Promise<string[]> }>}
 */
export async function startCountersign(dir, toolUrl) {
  const place = await installation(dir, toolUrl, { from: PEERS_DIR });
  const proxy = await place.start({ nodeArgs: [] });
  const { capabilities, policies } = place.definitions;
  const stop = () => proxy.kill('SIGTERM');
  return {
    name: 'countersign',
    url: `${proxy.url}/v1/tool-calls`,
    token: place.token,
    pids: [proxy.pid],
    version: `all settings at their defaults; ${capabilities} capabilities, ${policies} policies, 10 of them in the shard`,
    durability: { journal_mode: 'wal', synchronous: 'full (the proxy refuses to start with less)' },
    stop,
    check: async (executions) => {
      const sample = await sampleOf(proxy.url, await place.tokenOf(PEOPLE.auditor));
      const code = await stop();
      const ending = code === 0 ? [] : [`countersign ended with ${code}: ${proxy.output().slice(-2000)}`];
      return [...ending, ...sample, ...recordedDifferences(readRecorded(place.database), executions)];
    },
  };
}

/** The last calls as the interface shows them. @param {string} url @param {string} token @returns {Promise<string[]>} */
async function sampleOf(url, token) {
  const response = await fetch(`${url}/v1/tool-calls?limit=200`, { headers: { authorization: `Bearer ${token}` } });
  if (!response.ok) return [`countersign: the list of calls answered ${response.status}`];
  const { items } = /** @type {{ items: { toolCallId: string, status: string }[] }} */ (await response.json());
  if (items.length === 0) return ['countersign: the list of calls is empty'];
  return items
    .filter(({ status }) => status !== 'completed')
    .map((call) => `countersign: ${call.toolCallId} is ${call.status}`);
}

/** @param {import('../recorded.mjs').Recorded} recorded @param {number} executions @returns {string[]} */
function recordedDifferences({ statuses, calls, dense, fewestEvents, mostEvents }, executions) {
  /** @type {string[]} */
  const problems = [];
  if (calls !== executions)
    problems.push(`countersign: ${calls} calls are recorded, the tool carried out ${executions}`);
  if (statuses['completed'] !== calls) problems.push(`countersign: statuses are ${JSON.stringify(statuses)}`);
  if (!dense) problems.push('countersign: the positions have gaps');
  if (fewestEvents !== EVENTS_PER_CALL || mostEvents !== EVENTS_PER_CALL) {
    problems.push(`countersign: ${fewestEvents} to ${mostEvents} events per call`);
  }
  return problems;
}
