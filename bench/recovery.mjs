/** `kill -9` while the tool works on calls: how long the next start takes, and when every call is settled again. */
import { setTimeout as pause } from 'node:timers/promises';
import { PEOPLE } from '../examples/refunds/stack.mjs';
import { rounded } from './closed-loop.mjs';
import { installation } from './processes.mjs';
import { readRecorded } from './recorded.mjs';
import { ToolCallClient } from './tool-call-client.mjs';
import { gatedRequests } from './work.mjs';

/** So long the tool holds back each effect, so that it comes after the kill; the caller is gone by then. */
const TOOL_DELAY_MS = 1_000;
const GIVE_UP_MS = 60_000;
const POLL_MS = 20;

const TERMINAL = new Set(['completed', 'failed', 'manual_handoff', 'denied', 'not_executed']);
/** Nobody can mistake these for one that still runs: they end, or are known to be unknown. */
const DECIDED = new Set([...TERMINAL, 'result_unknown', 'reconciling']);

/**
 * @typedef {object} Recovery
 * @property {number} inFlight calls at the tool when the proxy was killed
 * @property {number} readyMs from the start of the process until it is ready
 * @property {number} decidedMs … until every call has ended or is known to be unknown
 * @property {number} settledMs … until every call has ended; the delay of the tool and the pause before a look-up are part of it
 */

/**
 * @param {string} dir
 * @param {import('./processes.mjs').Tool} tool
 * @param {{ inFlight: number, others?: number | undefined }} plan
 * @returns {Promise<{ recovery: Recovery, problems: string[] }>}
 */
export async function measureRecovery(dir, tool, { inFlight, others }) {
  const place = await installation(dir, tool.url, { others });
  const first = await place.start();
  try {
    return await recover(place, first, { tool, inFlight });
  } finally {
    await first.kill('SIGKILL');
    await tool.delay(0);
  }
}

/**
 * @param {import('./processes.mjs').Installation} place
 * @param {import('../examples/refunds/stack.mjs').Running} first is killed
 * @param {{ tool: import('./processes.mjs').Tool, inFlight: number, from?: number }} load `from`: first position that is looked at
 */
export async function recover(place, first, { tool, inFlight, from = 0 }) {
  await tool.forget();
  await tool.delay(TOOL_DELAY_MS);
  const runId = await putInFlight(place, first.url, inFlight);
  while ((await tool.arrivals()).received < inFlight) await pause(POLL_MS);
  await first.kill('SIGKILL');
  const startedAt = performance.now();
  const second = await place.start();
  try {
    const auditor = await place.tokenOf(PEOPLE.auditor);
    await until(async () => (await fetch(`${second.url}/readyz`)).ok);
    const readyMs = performance.now() - startedAt;
    const client = new ToolCallClient(second.url);
    const all = async (/** @type {Set<string>} */ wanted) =>
      Object.keys(await client.statusesOf(auditor, runId)).every((status) => wanted.has(status));
    await until(() => all(DECIDED));
    const decidedMs = performance.now() - startedAt;
    await until(() => all(TERMINAL));
    const settledMs = performance.now() - startedAt;
    const statuses = await client.statusesOf(auditor, runId);
    await client.close();
    const [{ executions, repeatedKeys }, exitCode] = [await tool.counts(), await second.kill('SIGTERM')];
    /** @type {[string, unknown, unknown][]} */
    const facts = [
      ['calls completed after the kill', statuses['completed'], inFlight],
      ['executions after the kill', executions, inFlight],
      ['keys executed twice after the kill', repeatedKeys, 0],
      ['exit code after the recovery', exitCode, 0],
      ['positions are dense after the recovery', readRecorded(place.database, from).dense, true],
    ];
    return {
      recovery: {
        inFlight,
        readyMs: rounded(readyMs, 0),
        decidedMs: rounded(decidedMs, 0),
        settledMs: rounded(settledMs, 0),
      },
      problems: facts
        .filter(([, is, wanted]) => is !== wanted)
        .map(([what, is, wanted]) => `${what}: ${String(is)}, expected ${String(wanted)}`),
    };
  } finally {
    await second.kill('SIGKILL');
  }
}

/**
 * @param {import('./processes.mjs').Installation} place
 * @param {string} url
 * @param {number} inFlight
 * @returns {Promise<string>} the run of the calls
 */
async function putInFlight(place, url, inFlight) {
  const client = new ToolCallClient(url);
  const request = gatedRequests(place.token, 'killed', { run: 'killed', waitSeconds: 0 });
  const answers = await Promise.all(Array.from({ length: inFlight }, (_, index) => client.post(request(index))));
  await client.close();
  const refused = answers.find(({ status }) => status !== 202 && status !== 200);
  if (refused !== undefined) throw new Error(`a call before the kill was answered ${JSON.stringify(refused)}`);
  return answers[0]?.body.runId;
}

/** @param {() => Promise<boolean>} holds */
async function until(holds) {
  const giveUpAt = Date.now() + GIVE_UP_MS;
  while (!(await holds())) {
    if (Date.now() > giveUpAt) throw new Error('not everything is settled after a kill');
    await pause(POLL_MS);
  }
}
