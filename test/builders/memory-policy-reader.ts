import type { CommittedEvent } from '../../src/domain/events/envelope.js';
import type { PolicyReader, ReadDecision } from '../../src/storage/readers/policy-records.js';
import type { TableName, TableRow } from '../../src/storage/rows/tables.js';

interface Kept {
  readonly events: readonly CommittedEvent[];
  rows<T extends TableName>(table: T): readonly TableRow<T>[];
}

/** What a store in memory answers about policy sets and decisions. `erased`: sessions whose key is gone. */
export function memoryPolicyReader(store: Kept, erased: ReadonlySet<string> = new Set()): PolicyReader {
  const one = async <T extends TableName>(table: T, match: (row: TableRow<T>) => boolean) =>
    store.rows(table).find(match) ?? null;
  const decisions = (match: (event: CommittedEvent) => boolean): ReadDecision[] =>
    store.events
      .filter((event) => event.envelope.eventType === 'policy.decided' && match(event))
      .map((event) => (erased.has(event.envelope.sessionId ?? '') ? { ...event, payload: null } : event));
  return {
    policySet: (revision) => one('policy_sets', (row) => row.revision === revision),
    policyActivation: (id) => one('policy_activations', (row) => row.activation_id === id),
    openPolicyActivations: async (limit) =>
      store
        .rows('policy_activations')
        .filter(({ state }) => state === 'proposed')
        .toSorted((a, b) => (a.decide_by < b.decide_by ? -1 : 1))
        .slice(0, limit),
    policyShadow: (scope) => one('policy_shadow', (row) => row.scope === scope),
    shadowFlips: async (revision) => store.rows('policy_shadow_flips').filter((row) => row.revision === revision),
    shadowDifferences: async (revision, limit) =>
      store
        .rows('policy_shadow_differences')
        .filter((row) => row.revision === revision)
        .toSorted((a, b) => b.sequence - a.sequence)
        .slice(0, limit),
    shadowSequence: async () => Math.max(0, ...store.rows('policy_shadow_differences').map(({ sequence }) => sequence)),
    decisionsIn: async ({ from, below, since, until }) =>
      decisions(
        ({ position, envelope }) =>
          position >= from &&
          position < below &&
          envelope.recordedAt >= (since ?? '') &&
          envelope.recordedAt < (until ?? '~'),
      ).toReversed(),
    decision: async (tenant, id) =>
      decisions(({ envelope }) => envelope.tenant === tenant && envelope.policyDecisionId === id)[0] ?? null,
    decisionsOf: async (tenant, id) =>
      decisions(({ envelope }) => envelope.tenant === tenant && envelope.streamId === id),
  };
}
