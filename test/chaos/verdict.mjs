/** What a chaos run has shown: the record of the target against the count of the tool. */

/** @typedef {import('./clients.mjs').Call} Call */
/** @typedef {import('./proxy-target.mjs').CallRecord} CallRecord */
/** @typedef {import('./tool.mjs').ToolStats} ToolStats */

const UNDONE = ['failed', 'not_executed', 'denied', 'proposed', 'authorized'];
const ENDED = ['completed', 'failed', 'not_executed', 'denied'];

export const isEnded = (/** @type {CallRecord} */ { status }) => ENDED.includes(status);

/**
 * A line for each thing that must not be. Duplicates: an order paid again, a key sent again. Lost: what was acknowledged and
 * is not on record, what the tool did and the record denies, and the reverse. Stuck: what has not ended by itself.
 * @param {readonly Call[]} calls @param {readonly CallRecord[]} records @param {ToolStats} stats
 */
export function judge(calls, records, stats) {
  const known = new Map(records.map((record) => [record.toolCallId, record]));
  const keys = new Set(records.map(({ key }) => key));
  const again = (/** @type {Record<string, number>} */ counts, /** @type {string} */ what) =>
    Object.entries(counts).flatMap(([name, count]) => Array.from({ length: count - 1 }, () => `${name} ${what} again`));
  const forgotten = calls.filter(({ toolCallId }) => toolCallId === null || !known.has(toolCallId));
  const unknownKeys = Object.keys(stats.requestsByKey).filter((key) => !keys.has(key));
  const contradictions = records.flatMap(({ toolCallId, key, status }) => {
    const executions = stats.executionsByKey[key] ?? 0;
    if (status === 'completed' && executions === 0) return [`${toolCallId} is completed and was never executed`];
    if (UNDONE.includes(status) && executions > 0) return [`${toolCallId} is ${status} and was executed`];
    return [];
  });
  return {
    duplicates: [...again(stats.executionsByOrder, 'paid'), ...again(stats.requestsByKey, 'sent')],
    lost: [
      ...forgotten.map(({ key, toolCallId }) => `${key} was acknowledged as ${toolCallId} and is not on record`),
      ...unknownKeys.map((key) => `${key} was sent and no call on record has it`),
      ...contradictions,
    ],
    stuck: records.filter((record) => !isEnded(record)).map(({ toolCallId, status }) => `${toolCallId} is ${status}`),
  };
}
