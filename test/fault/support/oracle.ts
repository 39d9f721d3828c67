import type { ProviderStats } from './fault-stack.js';
import type { CallRecord } from './stopped-database.js';

/**
 * Everything in which the record of calls differs from what the provider itself did. The provider counts in its own
 * process and its own database, so the proxy cannot talk itself right.
 */
export function contradictions(calls: readonly CallRecord[], stats: ProviderStats): string[] {
  const found: string[] = [];
  const known = new Set(calls.map(({ downstreamKey }) => downstreamKey));
  for (const [key, requests] of Object.entries(stats.requestsByKey)) {
    if (!known.has(key)) found.push(`${key} was sent and no call has it`);
    if (requests > 1) found.push(`${key} was sent ${requests} times`);
  }
  for (const [key, executions] of Object.entries(stats.executionsByKey)) {
    if (!known.has(key)) found.push(`${key} was executed and no call has it`);
    if (executions > 1) found.push(`${key} was executed ${executions} times`);
  }
  for (const { toolCallId, downstreamKey, status } of calls) {
    const executions = stats.executionsByKey[downstreamKey] ?? 0;
    if (status === 'completed' && executions !== 1)
      found.push(`${toolCallId} is completed, executed ${executions} times`);
    if (['failed', 'not_executed', 'denied', 'proposed', 'authorized'].includes(status) && executions !== 0) {
      found.push(`${toolCallId} is ${status}, executed ${executions} times`);
    }
  }
  return found;
}
