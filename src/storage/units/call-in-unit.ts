import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { DomainEvent, EventType, Producer } from '../../domain/events/catalogue.js';
import type { EventRefs } from '../../domain/events/envelope.js';
import { principalKey } from '../../domain/principal.js';
import type { ToolCallCommand } from '../../domain/tool-call/tool-call.commands.js';
import { decideToolCall } from '../../domain/tool-call/tool-call.decide.js';
import { evolveToolCall } from '../../domain/tool-call/tool-call.evolve.js';
import { isLiveLease } from '../../domain/lease/lease.state.js';
import { isTerminal, type ToolCallState } from '../../domain/tool-call/tool-call.state.js';
import { changedColumns } from '../rows/changed-columns.js';
import { toolCallRow, type ToolCallFacts } from '../rows/tool-call.row.js';
import type { TableRow } from '../rows/tables.js';
import type { CounterChange, Write } from '../unit.js';
import { counterChanges } from './call-counters.js';
import {
  attemptWrites,
  handoffWrites,
  intentWrites,
  workWrites,
  type PlacedEvent,
  type WorkTiming,
} from './call-rows.js';
import { LeaseInUnit, type LoadedLease } from './lease-in-unit.js';
import type { UnitDraft } from './unit-draft.js';
import { recordCheckpoint } from './wait-checkpoint.js';

/** A call as loaded, or as it is about to be opened. */
export interface CallBefore {
  readonly state: ToolCallState | null;
  readonly facts: ToolCallFacts;
  /** The row that both were read from, where there is one: what the new row is compared with. */
  readonly row?: TableRow<'tool_calls'>;
  /** The act lease of the present attempt, where it was dispatched under one. */
  readonly lease?: LoadedLease;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Event types whose payload the representation shows, by the column that remembers the newest one. */
const REMEMBERED: Partial<
  Record<EventType, 'proposed_event_id' | 'decided_event_id' | 'settled_event_id' | 'resolution_event_id'>
> = {
  'tool.call.proposed': 'proposed_event_id',
  'policy.decided': 'decided_event_id',
  'tool.call.completed': 'settled_event_id',
  'tool.call.failed': 'settled_event_id',
  'tool.call.result_unknown': 'settled_event_id',
  'tool.call.denied': 'settled_event_id',
  'tool.call.not_executed': 'settled_event_id',
  'tool.call.manual_handoff': 'settled_event_id',
  'manual.handoff_resolved': 'resolution_event_id',
};

/**
 * One tool call inside a unit in the making: it decides, appends what was decided, and in the end writes the rows that
 * repeat it. The row is compared with the version it was loaded at, so two writers of one call never both win.
 */
export class CallInUnit {
  private readonly before: CallBefore;
  private readonly placed: PlacedEvent[] = [];
  private current: ToolCallState | null;
  /** A copy of its own, changed in place: a unit remembers many events. */
  private readonly facts: Mutable<ToolCallFacts>;
  private built: TableRow<'tool_calls'> | null = null;
  private timing: WorkTiming = {};
  private released = false;

  constructor(
    private readonly draft: UnitDraft,
    before: CallBefore,
  ) {
    this.before = before;
    this.current = before.state;
    this.facts = { ...before.facts };
    draft.rowsFrom({ rows: () => this.rows(), counters: () => this.counters() });
  }

  get toolCallId(): string {
    return this.facts.tool_call_id;
  }

  /** @throws Error before the call was proposed. */
  get state(): ToolCallState {
    if (this.current === null) throw new Error('the call has not been proposed');
    return this.current;
  }

  /** The call as it will be when the unit is durable. */
  get after(): CallBefore {
    const after = { state: this.state, facts: { ...this.facts } };
    const { lease } = this.before;
    return lease === undefined || this.released ? after : { ...after, lease };
  }

  /** The row of the call as it will be when the unit is durable. */
  get row(): TableRow<'tool_calls'> {
    this.built ??= toolCallRow(this.facts, this.state);
    return this.built;
  }

  /**
   * Decides and appends.
   *
   * @throws CountersignError with the code of the transition table when the machine refuses.
   */
  do(command: ToolCallCommand, refs: EventRefs = {}, producer?: Producer): this {
    const decided = decideToolCall(this.current, command);
    if (!decided.ok) throw new CountersignError(decided.code, decided.message, { toolCallId: this.facts.tool_call_id });
    if (decided.events.length === 0) return this;
    const ids = this.draft.append(
      { kind: 'call', id: this.facts.tool_call_id },
      this.facts.version,
      decided.events,
      Object.assign(this.refs, refs),
      producer,
    );
    decided.events.forEach((event, index) => this.remember(event, ids[index] as string, refs));
    if (decided.events.some(({ type }) => type === 'tool.call.result_unknown')) {
      recordCheckpoint(this.draft, this.refs, 'awaiting_reconciliation');
    }
    if (this.before.lease !== undefined) this.releaseWithEnd(this.before.lease);
    return this;
  }

  /** L5: whichever way a call ends, what was lent for it ends in the same unit. */
  private releaseWithEnd(lease: LoadedLease): void {
    if (this.released || !isLiveLease(lease.state) || !isTerminal(this.state.status)) return;
    this.released = true;
    const release = { reason: 'call_ended', at: this.draft.context.occurredAt } as const;
    new LeaseInUnit(this.draft, lease, this.refs).do({ kind: 'release', release });
  }

  /** When the reconciler may look: set by whoever makes the result unknown or asks again. */
  workAt(timing: WorkTiming): this {
    this.timing = { ...this.timing, ...timing };
    return this;
  }

  /** What every event about the call, and about its approvals, refers to. */
  get refs(): EventRefs {
    const { facts, current } = this;
    const refs: Mutable<EventRefs> = {
      toolCallId: facts.tool_call_id,
      runId: facts.run_id,
      sessionId: facts.session_id,
    };
    if (facts.turn_id !== null) refs.turnId = facts.turn_id;
    if (facts.reasoning_object_id !== null) refs.reasoningObjectId = facts.reasoning_object_id;
    if (facts.skill_id !== null) refs.skillId = facts.skill_id;
    if (facts.approval_id !== null) refs.approvalId = facts.approval_id;
    if (facts.lease_id !== null) refs.credentialLeaseId = facts.lease_id;
    if (facts.policy_decision_id !== null) refs.policyDecisionId = facts.policy_decision_id;
    if (current !== null) refs.capabilityId = `${current.capability}@${current.capabilityVersion}`;
    return refs;
  }

  private remember(event: DomainEvent, eventId: string, refs: EventRefs): void {
    const { facts } = this;
    this.built = null;
    this.placed.push({ event, eventId });
    this.current = evolveToolCall(this.current, event);
    facts.version += 1;
    facts.last_event_id = eventId;
    facts.updated_at = this.draft.context.occurredAt;
    const column = REMEMBERED[event.type];
    if (column !== undefined) facts[column] = eventId;
    if (event.type === 'policy.decided') {
      facts.policy_decision_id = refs.policyDecisionId ?? null;
      facts.policy_revision = event.payload.policyRevision;
    }
    if (event.type === 'tool.call.retry_accepted') {
      facts.approval_id = null;
      facts.lease_id = null;
    }
  }

  /** The approval that now stands for the call. */
  boundTo(approvalId: string | null): this {
    this.built = null;
    this.facts.approval_id = approvalId;
    return this;
  }

  /** The lease that the present attempt is dispatched under. */
  underLease(leaseId: string): this {
    this.built = null;
    this.facts.lease_id = leaseId;
    return this;
  }

  private counters(): readonly CounterChange[] {
    return this.placed.length === 0 ? [] : counterChanges(this.facts.tenant, this.before.state, this.state);
  }

  private rows(): readonly Write[] {
    if (this.placed.length === 0) return [];
    const { row } = this;
    const scope = {
      tenant: this.facts.tenant,
      toolCallId: this.facts.tool_call_id,
      principal: principalKey(this.state.principal),
      now: this.draft.context.occurredAt,
    };
    const own: Write =
      this.before.state === null
        ? { op: 'insert', table: 'tool_calls', row, takenGuard: 'tool_call' }
        : {
            op: 'set',
            table: 'tool_calls',
            where: { tool_call_id: row.tool_call_id, version: this.before.facts.version },
            set: changedColumns(this.before.row ?? toolCallRow(this.before.facts, this.before.state), row),
            guard: 'tool_call',
          };
    return [
      own,
      ...attemptWrites(scope, this.placed, this.state),
      ...handoffWrites(scope, this.placed),
      ...workWrites(scope, this.before.state, this.state, this.timing),
      ...intentWrites(scope, this.before.state, this.state),
    ];
  }
}
