/** The gated load: keeps what every answer said, and looks up what an answer left open. */
import { runClosedLoop } from './closed-loop.mjs';
import { gatedRequests } from './work.mjs';

const SAMPLES = 200;
const PROBLEMS_KEPT = 10;

/** Collects the answers of all series of gated calls. */
export class GatedAnswers {
  calls = 0;
  completed = 0;
  /** Calls that had not ended when they were answered. @type {string[]} */
  open = [];
  /** Ids of completed calls. @type {string[]} */
  ids = [];
  /** @type {string[]} */
  problems = [];

  /** @param {number} status @param {string} text */
  take(status, text) {
    this.calls += 1;
    const { status: callStatus, toolCallId } = readCall(text);
    if (status === 200 && callStatus === 'completed' && toolCallId !== undefined) {
      this.completed += 1;
      this.ids.push(toolCallId);
    } else if (status === 202 && toolCallId !== undefined) this.open.push(toolCallId);
    else if (this.problems.length < PROBLEMS_KEPT) this.problems.push(`answer ${status}: ${text.slice(0, 300)}`);
  }
}

/** @param {string} text @returns {{ status?: string, toolCallId?: string }} */
function readCall(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/**
 * @param {GatedAnswers} answers
 * @param {{ url: string, token: string, series: string, connections: number, calls: number, run?: string }} load
 */
export function runGated(answers, { url, token, series, connections, calls, run = 'bench' }) {
  return runClosedLoop({
    url,
    connections,
    calls,
    request: gatedRequests(token, series, { run }),
    answered: (status, text) => answers.take(status, text),
  });
}

/**
 * Asks for every call whose answer left its end open, and for a sample of those that were answered as completed.
 * @param {GatedAnswers} answers
 * @param {{ url: string, token: string }} proxy
 */
export async function lookUp(answers, { url, token }) {
  const step = Math.max(1, Math.floor(answers.ids.length / SAMPLES));
  const sample = answers.ids.filter((_, index) => index % step === 0);
  for (const toolCallId of [...answers.open, ...sample]) {
    const response = await fetch(`${url}/v1/tool-calls/${toolCallId}?wait=20`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { status } = readCall(await response.text());
    if (status !== 'completed') answers.problems.push(`${toolCallId} is ${status}`);
    else if (answers.open.includes(toolCallId)) answers.completed += 1;
  }
  return { open: answers.open.length, sampled: sample.length };
}
