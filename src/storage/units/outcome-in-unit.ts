import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { DomainEvent } from '../../domain/events/catalogue.js';
import type { EventRefs } from '../../domain/events/envelope.js';
import type { OutcomeCommand } from '../../domain/outcome/outcome.commands.js';
import { decideOutcome } from '../../domain/outcome/outcome.decide.js';
import { evolveOutcome } from '../../domain/outcome/outcome.evolve.js';
import type { OutcomeState } from '../../domain/outcome/outcome.state.js';
import { outcomeFacts, outcomeRow, outcomeState, type OutcomeFacts } from '../rows/outcome.row.js';
import type { TableRow } from '../rows/tables.js';
import type { StoreReader } from '../readers/store-reader.js';
import type { Write } from '../unit.js';
import type { UnitDraft } from './unit-draft.js';

export interface OutcomeBefore {
  readonly state: OutcomeState | null;
  readonly facts: OutcomeFacts;
}

/** One primary-key read; null when no verification was opened. */
export async function loadOutcome(
  read: StoreReader,
  tenant: string,
  toolCallId: string,
): Promise<OutcomeBefore | null> {
  const row = await read.outcome(tenant, toolCallId);
  return row === null ? null : { state: outcomeState(row), facts: outcomeFacts(row) };
}

/** The outcome of a call before anything was opened. */
export function outcomeToOpen(call: TableRow<'tool_calls'>, now: string): OutcomeBefore {
  const { tool_call_id, tenant, run_id, session_id, correlation_id } = call;
  const facts = {
    tool_call_id,
    tenant,
    run_id,
    session_id,
    correlation_id,
    version: 0,
    verdict_event_id: null,
    last_event_id: '',
    created_at: now,
    updated_at: now,
  };
  return { state: null, facts };
}

const NO_VERDICT: readonly DomainEvent['type'][] = ['outcome.verification_opened'];
const VERDICTS: readonly DomainEvent['type'][] = [
  'feedback.success_criteria_met',
  'feedback.success_criteria_failed',
  'feedback.contradiction_recorded',
];

/** One outcome inside a unit in the making. It never touches the row of its call. */
export class OutcomeInUnit {
  private current: OutcomeState | null;
  private facts: OutcomeFacts;

  constructor(
    private readonly draft: UnitDraft,
    private readonly before: OutcomeBefore,
    /** What events about the call refer to. */
    private readonly callRefs: EventRefs,
  ) {
    this.current = before.state;
    this.facts = before.facts;
    draft.rowsFrom({ rows: () => this.rows() });
  }

  /** @throws Error before the verification was opened. */
  get state(): OutcomeState {
    if (this.current === null) throw new Error('the verification has not been opened');
    return this.current;
  }

  /**
   * Decides and appends; answers the ids of the events.
   *
   * @throws CountersignError with the code of the transition table when the machine refuses.
   */
  do(command: OutcomeCommand, refs: EventRefs = {}): readonly string[] {
    const decided = decideOutcome(this.current, command);
    const { tool_call_id: toolCallId } = this.facts;
    if (!decided.ok) throw new CountersignError(decided.code, decided.message, { toolCallId });
    const stream = { kind: 'outcome', id: toolCallId } as const;
    const ids = this.draft.append(stream, this.facts.version, decided.events, { ...this.callRefs, ...refs });
    decided.events.forEach((event, index) => this.remember(event, ids[index] as string));
    return ids;
  }

  private remember(event: DomainEvent, eventId: string): void {
    this.current = evolveOutcome(this.current, event);
    this.facts = {
      ...this.facts,
      version: this.facts.version + 1,
      last_event_id: eventId,
      updated_at: this.draft.context.occurredAt,
      ...(VERDICTS.includes(event.type) ? { verdict_event_id: eventId } : {}),
      ...(NO_VERDICT.includes(event.type) ? { verdict_event_id: null } : {}),
    };
  }

  private rows(): readonly Write[] {
    if (this.current === null || this.facts.version === this.before.facts.version) return [];
    const row = outcomeRow(this.facts, this.current);
    if (this.before.state === null) return [{ op: 'insert', table: 'outcomes', row, takenGuard: 'outcome' }];
    const where = { tool_call_id: row.tool_call_id, version: this.before.facts.version };
    return [{ op: 'set', table: 'outcomes', where, set: row, guard: 'outcome' }];
  }
}
