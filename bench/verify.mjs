/** Holds what the answers, the tool and the ledger say about the same calls against each other. */

import { SINK_LAG_MS_MAX } from './sink-file.mjs';

/** Proposed, decided, authorized, dispatching, dispatched, accepted, completed: what one allowed call leaves behind. */
const EVENTS_PER_CALL = 7;

/**
 * @param {object} facts
 * @param {number} facts.calls that were sent
 * @param {import('./gated-load.mjs').GatedAnswers} facts.answers
 * @param {{ executions: number, keys: number, repeatedKeys: number }} facts.tool
 * @param {import('./recorded.mjs').Recorded} facts.before recorded by a start without a call
 * @param {import('./recorded.mjs').Recorded} facts.after
 * @param {number | null} facts.exitCode of the proxy
 * @returns {string[]} what differs
 */
export function differences({ calls, answers, tool, before, after, exitCode }) {
  const problems = [...answers.problems];
  /** @param {string} what @param {unknown} is @param {unknown} expected */
  const same = (what, is, expected) => {
    if (is !== expected) problems.push(`${what}: ${String(is)}, expected ${String(expected)}`);
  };
  same('answers', answers.calls, calls);
  same('calls known as completed', answers.completed, calls);
  same('distinct ids in the answers', new Set([...answers.ids, ...answers.open]).size, calls);
  same('executions at the tool', tool.executions, calls);
  same('keys at the tool', tool.keys, calls);
  same('keys the tool executed twice', tool.repeatedKeys, 0);
  same('exit code of the proxy', exitCode, 0);
  same(
    'rows of calls',
    Object.values(after.statuses).reduce((sum, count) => sum + count, 0),
    calls,
  );
  same('rows of completed calls', after.statuses['completed'], calls);
  same('streams of calls', after.calls, calls);
  same('fewest events of a call', after.fewestEvents, EVENTS_PER_CALL);
  same('most events of a call', after.mostEvents, EVENTS_PER_CALL);
  same('positions are dense', after.dense, true);
  const constants = expectedOthers(before);
  same('events of no call', JSON.stringify(sorted(after.otherEvents)), JSON.stringify(sorted(constants)));
  const others = Object.values(constants).reduce((sum, count) => sum + count, 0);
  same('leaves', after.leaves, calls * EVENTS_PER_CALL + others);
  return problems;
}

/**
 * @param {{ lines: number, distinct: number, leaves: number, lagMs: number }} sink what its file holds, beside the leaves of the ledger
 * @returns {string[]} what differs
 */
export function sinkDifferences({ lines, distinct, leaves, lagMs }) {
  const problems = [];
  if (lines !== leaves) problems.push(`lines of the sink: ${lines}, expected ${leaves}`);
  if (distinct !== leaves) problems.push(`distinct events of the sink: ${distinct}, expected ${leaves}`);
  if (lagMs > SINK_LAG_MS_MAX)
    problems.push(`the sink was ${lagMs.toFixed(0)} ms behind, allowed are ${SINK_LAG_MS_MAX}`);
  return problems;
}

/** The run of all calls is opened once; apart from that, only what a start writes. @param {import('./recorded.mjs').Recorded} before */
function expectedOthers({ otherEvents }) {
  return { ...otherEvents, 'run.started': 1 };
}

/** @param {Record<string, number>} counts */
const sorted = (counts) => Object.entries(counts).toSorted(([left], [right]) => (left < right ? -1 : 1));
