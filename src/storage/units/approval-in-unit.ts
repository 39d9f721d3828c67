import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { ApprovalCommand } from '../../domain/approval/approval.commands.js';
import { decideApproval } from '../../domain/approval/approval.decide.js';
import { evolveApproval } from '../../domain/approval/approval.evolve.js';
import type { ApprovalState } from '../../domain/approval/approval.state.js';
import type { DomainEvent, Producer } from '../../domain/events/catalogue.js';
import type { EventRefs } from '../../domain/events/envelope.js';
import { approvalRow, voteRow, type ApprovalFacts } from '../rows/approval.row.js';
import type { Write } from '../unit.js';
import type { PlacedEvent } from './call-rows.js';
import { openApprovalsKey } from './open-approvals.js';
import type { UnitDraft } from './unit-draft.js';
import { recordCheckpoint } from './wait-checkpoint.js';

export interface ApprovalBefore {
  readonly state: ApprovalState | null;
  readonly facts: ApprovalFacts;
}

/** One approval inside a unit in the making: decides, appends, writes its row and its votes. */
export class ApprovalInUnit {
  private readonly placed: PlacedEvent[] = [];
  private current: ApprovalState | null;
  private facts: ApprovalFacts;

  constructor(
    private readonly draft: UnitDraft,
    private readonly before: ApprovalBefore,
    /** What events about the approved call refer to. */
    private readonly callRefs: EventRefs,
  ) {
    this.current = before.state;
    this.facts = before.facts;
    draft.rowsFrom({ rows: () => this.rows() });
  }

  /** @throws Error before the question was asked. */
  get state(): ApprovalState {
    if (this.current === null) throw new Error('the approval has not been asked for');
    return this.current;
  }

  get after(): ApprovalBefore {
    return { state: this.state, facts: this.facts };
  }

  /** False when the command found its work already done and nothing is to be recorded. */
  get changed(): boolean {
    return this.placed.length > 0;
  }

  /** @throws CountersignError with the code of the transition table when the machine refuses. */
  do(command: ApprovalCommand, producer?: Producer): this {
    const decided = decideApproval(this.current, command);
    const { approval_id: approvalId } = this.facts;
    if (!decided.ok) {
      const recorded = this.current?.status;
      throw new CountersignError(decided.code, decided.message, {
        approvalId,
        ...(recorded === undefined ? {} : { recordedDecision: recorded }),
      });
    }
    const refs = { ...this.callRefs, approvalId };
    const stream = { kind: 'approval', id: approvalId } as const;
    const ids = this.draft.append(stream, this.facts.version, decided.events, refs, producer);
    decided.events.forEach((event, index) => this.remember(event, ids[index] as string));
    if (decided.events.some(({ type }) => type === 'approval.required')) {
      recordCheckpoint(this.draft, this.callRefs, 'awaiting_approval');
    }
    return this;
  }

  private remember(event: DomainEvent, eventId: string): void {
    this.placed.push({ event, eventId });
    const wasPending = this.current?.status === 'pending';
    this.current = evolveApproval(this.current, event);
    if (wasPending && this.current.status !== 'pending') {
      this.draft.count({ tenant: this.facts.tenant, key: openApprovalsKey(this.facts.principal), add: -1, max: null });
    }
    this.facts = {
      ...this.facts,
      version: this.facts.version + 1,
      last_event_id: eventId,
      updated_at: this.draft.context.occurredAt,
      ...(event.type === 'approval.required' ? { required_event_id: eventId } : {}),
    };
  }

  private rows(): readonly Write[] {
    if (this.placed.length === 0) return [];
    const row = approvalRow(this.facts, this.state);
    const own: Write =
      this.before.state === null
        ? { op: 'insert', table: 'approvals', row, takenGuard: 'approval' }
        : {
            op: 'set',
            table: 'approvals',
            where: { approval_id: row.approval_id, version: this.before.facts.version },
            set: row,
            guard: 'approval',
          };
    return [own, ...this.placed.flatMap((placed) => this.voteWrites(placed))];
  }

  private voteWrites({ event, eventId }: PlacedEvent): Write[] {
    const { approval_id, tenant } = this.facts;
    if (event.type === 'approval.vote_recorded') {
      const sub = event.payload.by['sub'] as string;
      const { decision, groups, onBehalfOf } = event.payload;
      const lent =
        onBehalfOf === undefined || onBehalfOf === null ? {} : { onBehalfOf: onBehalfOf as readonly string[] };
      const vote = { sub, decision, groups: groups as readonly string[], ...lent };
      const facts = { approval_id, tenant, event_id: eventId, voted_at: this.draft.context.occurredAt };
      return [{ op: 'put', table: 'approval_votes', row: voteRow(facts, vote) }];
    }
    if (event.type === 'approval.vote_withdrawn') {
      const where = { approval_id, sub: event.payload.by['sub'] as string, withdrawn: 0 };
      return [{ op: 'set', table: 'approval_votes', where, set: { withdrawn: 1 }, guard: 'approval_vote' }];
    }
    return [];
  }
}
