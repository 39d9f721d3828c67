import { CATALOGUE } from '../../../src/domain/events/catalogue.js';
import type { EventPayload, EventType, Producer } from '../../../src/domain/events/catalogue.js';
import type { EventRefs, NewEvent } from '../../../src/domain/events/envelope.js';
import { ID_PREFIXES, createIdSource } from '../../../src/domain/ids/ids.js';
import { principalKey } from '../../../src/domain/principal.js';
import type { ToolCallState } from '../../../src/domain/tool-call/tool-call.state.js';
import type { ApprovalState } from '../../../src/domain/approval/approval.state.js';
import { approvalRow } from '../../../src/storage/rows/approval.row.js';
import { changedColumns } from '../../../src/storage/rows/changed-columns.js';
import { runRow } from '../../../src/storage/rows/run.row.js';
import type { TableRow } from '../../../src/storage/rows/tables.js';
import { toolCallRow } from '../../../src/storage/rows/tool-call.row.js';
import type { Guard, Unit, Write } from '../../../src/storage/unit.js';
import { SystemRandom } from '../../../src/system/random-source.js';

export const TENANT = 'acme';
export const PRINCIPAL = { sub: 'alice', act: 'refund-agent' };
export const LONG_AGO = '2001-01-01T00:00:00.000Z';
export const FAR_AHEAD = '2101-01-01T00:00:00.000Z';

const DIGEST = `sha256:${'ab'.repeat(32)}`;
const OWNER = 'ins_00000000000000000000000001';

const random = new SystemRandom();
export const ids = createIdSource(Date, random);
export const newId = (kind: keyof typeof ID_PREFIXES): string => ids.next(ID_PREFIXES[kind]);

/** A unit of nothing: what each test adds is what it is about. */
export function unit(parts: Partial<Unit>): Unit {
  return {
    unitId: newId('unit'),
    tenant: TENANT,
    lane: 'admit',
    guards: [],
    appends: [],
    writes: [],
    counters: [],
    ...parts,
  };
}

export function event<T extends EventType>(type: T, payload: EventPayload<T>, parts: Partial<NewEvent> = {}): NewEvent {
  return {
    eventId: newId('event'),
    type,
    refs: {},
    producer: CATALOGUE[type].producers[0] as Producer,
    actor: { sub: 'alice', act: { sub: 'refund-agent' } },
    correlationId: 'corr-1',
    causationId: null,
    causeKind: 'external',
    occurredAt: '2031-01-01T00:00:00.000Z',
    payload: payload as NewEvent['payload'],
    ...parts,
  };
}

/** Each event caused by the one before it. */
function chained(events: readonly NewEvent[]): NewEvent[] {
  return events.map((event, index) => {
    const before = events[index - 1];
    return before === undefined ? event : { ...event, causationId: before.eventId, causeKind: 'event' };
  });
}

/** One call: its ids, and the units of its life when policy allows it at once. */
export class CallScript {
  readonly toolCallId = newId('toolCall');
  readonly nonce = newId('attempt');
  private readonly decisionId = newId('policyDecision');
  private readonly refs: EventRefs;
  private lastEventId = '';
  private proposedEventId = '';

  constructor(
    readonly runId: string = newId('run'),
    readonly keyHash: string = newId('command'),
    readonly args: { readonly [key: string]: string | number } = {
      orderId: 'order-1',
      amountMinor: 1200,
      note: 'damaged',
    },
  ) {
    this.refs = { runId, sessionId: runId, toolCallId: this.toolCallId };
  }

  /** The proposal and its dispatch in one unit: four events, five rows. */
  proposeAndDispatch(guards: readonly Guard[] = []): Unit {
    const events = chained([
      this.event('tool.call.proposed', this.proposal()),
      this.event('policy.decided', this.decision()),
      this.event('capability.authorized', { basis: 'policy', executeBy: FAR_AHEAD, attempt: 1 }),
      this.event('tool.call.dispatching', this.dispatching()),
    ]);
    this.proposedEventId = events[0]?.eventId ?? '';
    this.remember(events);
    return unit({
      guards,
      appends: [{ stream: { kind: 'call', id: this.toolCallId }, expectedVersion: 0, events }],
      writes: [
        {
          op: 'insert',
          table: 'tool_calls',
          row: this.row({ status: 'dispatching', ...this.carrying() }, 4),
          takenGuard: 'tool_call',
        },
        { op: 'insert', table: 'idempotency', row: this.idempotency(), takenGuard: 'idempotency' },
        { op: 'insert', table: 'open_intents', row: this.intent(), takenGuard: 'open_intent' },
        { op: 'insert', table: 'attempts', row: this.attempt(), takenGuard: 'attempt' },
        { op: 'put', table: 'work', row: this.work() },
      ],
    });
  }

  /** Sent, accepted and completed in one unit: three events, four rows. */
  settle(): Unit {
    const now = '2031-01-01T00:00:01.000Z';
    const events = chained([
      this.event(
        'tool.call.dispatched',
        { dispatchedAt: now, externalRequestId: 'up-1' },
        { causationId: this.lastEventId, causeKind: 'event' },
      ),
      this.event('tool.call.accepted', { acceptedAt: now, basis: 'implicit_by_result' }),
      this.event('tool.call.completed', {
        basis: 'direct',
        result: { refundId: 'rf_1', status: 'done' },
        resultDigest: DIGEST,
        resultTruncated: false,
        externalRequestId: 'up-1',
      }),
    ]);
    this.remember(events);
    const key = { tool_call_id: this.toolCallId };
    const row = this.row({ status: 'completed', resultBasis: 'direct' }, 7);
    return unit({
      lane: 'settle',
      appends: [{ stream: { kind: 'call', id: this.toolCallId }, expectedVersion: 4, events }],
      writes: [
        {
          op: 'set',
          table: 'tool_calls',
          where: { ...key, version: 4 },
          set: changedColumns(this.row({ status: 'dispatching', ...this.carrying() }, 4), row),
          guard: 'tool_call',
        },
        {
          op: 'set',
          table: 'attempts',
          where: { ...key, attempt: 1 },
          set: { state: 'settled', settled_at: now },
          guard: 'attempt',
        },
        { op: 'delete', table: 'work', where: key },
        { op: 'delete', table: 'open_intents', where: { tenant: TENANT, principal: principalKey(PRINCIPAL), ...key } },
      ],
    });
  }

  private event<T extends EventType>(type: T, payload: EventPayload<T>, parts: Partial<NewEvent> = {}): NewEvent {
    return event(type, payload, { refs: this.refs, correlationId: this.toolCallId, ...parts });
  }

  private remember(events: readonly NewEvent[]): void {
    this.lastEventId = events.at(-1)?.eventId ?? '';
  }

  private proposal(): EventPayload<'tool.call.proposed'> {
    return {
      capability: 'refund',
      capabilityVersion: '1',
      manifestDigest: DIGEST,
      effect: 'replay_by_key',
      risk: 'low',
      principal: PRINCIPAL,
      arguments: this.args,
      argsDigest: DIGEST,
      intentDigest: DIGEST,
      target: { connector: 'http', method: 'POST', url: 'https://pay.example/v1/refunds' },
      downstreamKey: this.toolCallId,
      idempotencyKey: 'caller-key-1',
    };
  }

  private decision(): EventPayload<'policy.decided'> {
    return {
      phase: 'propose',
      outcome: 'allow',
      policyRevision: DIGEST,
      schemaDigest: DIGEST,
      engineVersion: '4.0.0',
      requestDigest: DIGEST,
      request: {
        principal: 'Agent::"refund-agent"',
        action: 'Action::"refund"',
        resource: 'Capability::"refund"',
        context: { ...this.args },
      },
      determining: ['allow-small'],
      reasons: [],
      attempt: 1,
    };
  }

  private dispatching(): EventPayload<'tool.call.dispatching'> {
    return {
      attempt: 1,
      ...this.carrying(),
      downstreamKey: this.toolCallId,
      target: { connector: 'http', method: 'POST', url: 'https://pay.example/v1/refunds' },
      dispatchIntentAt: '2031-01-01T00:00:00.000Z',
    };
  }

  private carrying(): { nonce: string; fence: number; owner: string; ownerEpoch: number; deadline: string } {
    return { nonce: this.nonce, fence: 1, owner: OWNER, ownerEpoch: 1, deadline: FAR_AHEAD };
  }

  row(status: object, version: number): TableRow<'tool_calls'> {
    return toolCallRow(
      {
        tool_call_id: this.toolCallId,
        tenant: TENANT,
        run_id: this.runId,
        session_id: this.runId,
        turn_id: null,
        call_id: null,
        correlation_id: this.toolCallId,
        reasoning_object_id: null,
        skill_id: null,
        version,
        policy_decision_id: this.decisionId,
        policy_revision: DIGEST,
        approval_id: null,
        lease_id: null,
        proposed_event_id: this.proposedEventId,
        decided_event_id: null,
        settled_event_id: null,
        resolution_event_id: null,
        last_event_id: this.lastEventId,
        created_at: '2031-01-01T00:00:00.000Z',
        updated_at: '2031-01-01T00:00:00.000Z',
      },
      {
        capability: 'refund',
        capabilityVersion: '1',
        manifestDigest: DIGEST,
        effect: 'replay_by_key',
        risk: 'low',
        principal: PRINCIPAL,
        argsDigest: DIGEST,
        intentDigest: DIGEST,
        downstreamKey: this.toolCallId,
        executeBefore: null,
        attempt: 1,
        compensates: null,
        cancellationRequested: false,
        cancelBy: null,
        irreversible: null,
        contradicted: false,
        reserved: null,
        compensatedBy: null,
        externalRequestId: null,
        ...status,
      } as ToolCallState,
    );
  }

  private idempotency(): TableRow<'idempotency'> {
    return {
      tenant: TENANT,
      principal: principalKey(PRINCIPAL),
      capability: 'refund',
      key_hash: this.keyHash,
      intent_digest: DIGEST,
      tool_call_id: this.toolCallId,
      created_at: '2031-01-01T00:00:00.000Z',
    };
  }

  private intent(): TableRow<'open_intents'> {
    return {
      tenant: TENANT,
      principal: principalKey(PRINCIPAL),
      capability: 'refund',
      intent_digest: `${DIGEST}/${this.toolCallId}`,
      ordinal: 0,
      tool_call_id: this.toolCallId,
    };
  }

  private attempt(): TableRow<'attempts'> {
    const { nonce, fence, owner, ownerEpoch, deadline } = this.carrying();
    return {
      tool_call_id: this.toolCallId,
      attempt: 1,
      tenant: TENANT,
      nonce,
      fence,
      owner,
      owner_epoch: ownerEpoch,
      deadline,
      dispatch_intent_at: '2031-01-01T00:00:00.000Z',
      state: 'dispatching',
      settled_at: null,
    };
  }

  private work(): TableRow<'work'> {
    return {
      tool_call_id: this.toolCallId,
      tenant: TENANT,
      capability: 'refund',
      kind: 'observe',
      fence: 1,
      owner: OWNER,
      owner_epoch: 1,
      claim_until: FAR_AHEAD,
      next_at: FAR_AHEAD,
      tries: 0,
    };
  }
}

/** An approval in the status of `state`, as an insert. */
export function approvalInsert(
  approvalId: string,
  state: Partial<ApprovalState> & { status: ApprovalState['status'] },
): Write {
  const complete = {
    attempt: 1,
    risk: 'high',
    capability: 'refund',
    capabilityVersion: '1',
    manifestDigest: DIGEST,
    argsDigest: DIGEST,
    consentDigest: DIGEST,
    policyRevision: DIGEST,
    rules: [{ group: 'approvers', count: 1, notRequester: true }],
    requesterSubjects: ['alice', 'refund-agent'],
    decideBy: FAR_AHEAD,
    executionWindowMs: 900_000,
    executeByLatest: FAR_AHEAD,
    votes: [],
    batchId: null,
    delegations: [],
    escalations: [],
    breakGlass: null,
    review: null,
    ...state,
  } as ApprovalState;
  const row = approvalRow(
    {
      approval_id: approvalId,
      tenant: TENANT,
      tool_call_id: newId('toolCall'),
      run_id: newId('run'),
      session_id: newId('session'),
      principal: principalKey(PRINCIPAL),
      version: 1,
      supersedes_approval_id: null,
      required_event_id: newId('event'),
      last_event_id: newId('event'),
      created_at: '2031-01-01T00:00:00.000Z',
      updated_at: '2031-01-01T00:00:00.000Z',
    },
    complete,
  );
  return { op: 'insert', table: 'approvals', row, takenGuard: 'approval' };
}

export function runInsert(runId: string, parts: Partial<TableRow<'runs'>> = {}): Write {
  const row = runRow(
    {
      run_id: runId,
      tenant: TENANT,
      session_id: runId,
      version: 1,
      created_at: '2031-01-01T00:00:00.000Z',
      updated_at: '2031-01-01T00:00:00.000Z',
    },
    { status: 'running', implicit: true, label: null, principal: PRINCIPAL, modelLeg: 'idle', endReason: null },
  );
  return { op: 'insert', table: 'runs', row: { ...row, ...parts }, takenGuard: 'run_label' };
}

export const metaInsert = (name: string, value: string): Write => ({
  op: 'insert',
  table: 'meta',
  row: { name, value },
  takenGuard: `meta/${name}`,
});
