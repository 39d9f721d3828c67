import type { CommittedEvent } from '../../domain/events/envelope.js';
import { isJsonObject, type JsonValue } from '../../domain/json/json-value.js';
import type { OutcomeStatus } from '../../domain/outcome/outcome.state.js';
import type { Store } from '../../storage/store.js';

/** What the world shows of a call, judged from feedback alone: a tool's own answer never confirms it. */
export interface OutcomeView {
  readonly status: OutcomeStatus | 'not_observed';
  /** Where the evidence of the newest verdict or contradiction is kept. */
  readonly evidenceRefs: readonly string[];
}

const NOT_OBSERVED: OutcomeView = { status: 'not_observed', evidenceRefs: [] };

export class OutcomeViews {
  constructor(private readonly store: Store) {}

  /** Reads nothing for a call that was proposed without success criteria. */
  async of(tenant: string, toolCallId: string, proposed: CommittedEvent | null): Promise<OutcomeView> {
    if (typeof proposed?.payload['successCriteria'] !== 'string') return NOT_OBSERVED;
    const row = await this.store.read.outcome(tenant, toolCallId);
    if (row === null) return NOT_OBSERVED;
    const verdict = row.verdict_event_id === null ? null : await this.store.read.event(tenant, row.verdict_event_id);
    return { status: row.status, evidenceRefs: refsOf(verdict?.payload['evidenceRefs']) };
  }
}

function refsOf(list: JsonValue | undefined): readonly string[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((item: JsonValue) =>
    isJsonObject(item) && typeof item['ref'] === 'string' ? [item['ref']] : [],
  );
}
