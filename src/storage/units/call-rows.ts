import type { DomainEvent } from '../../domain/events/catalogue.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import { readCarrying } from '../../domain/tool-call/tool-call.evolve.js';
import type { Carrying, ToolCallState } from '../../domain/tool-call/tool-call.state.js';
import type { Write } from '../unit.js';

/** What the rows around a call need to know of it. */
export interface CallScope {
  readonly tenant: string;
  readonly toolCallId: string;
  readonly principal: string;
  /** ISO 8601: when what the unit records happened. */
  readonly now: string;
}

/** An event of the unit with the id it got. */
export interface PlacedEvent {
  readonly event: DomainEvent;
  readonly eventId: string;
}

/** When work that waits may be taken up; ISO 8601. */
export interface WorkTiming {
  readonly nextAt?: string;
}

/** One attempts row per dispatch, followed to its end. */
export function attemptWrites(scope: CallScope, placed: readonly PlacedEvent[], state: ToolCallState): Write[] {
  const writes: Write[] = [];
  for (const { event } of placed) {
    if (event.type === 'tool.call.dispatching') {
      const { attempt, nonce, fence, owner, ownerEpoch, deadline, dispatchIntentAt } = event.payload;
      writes.push({
        op: 'insert',
        table: 'attempts',
        takenGuard: 'attempt',
        row: {
          tool_call_id: scope.toolCallId,
          attempt,
          tenant: scope.tenant,
          nonce,
          fence,
          owner,
          owner_epoch: ownerEpoch,
          deadline,
          dispatch_intent_at: dispatchIntentAt,
          state: 'dispatching',
          settled_at: null,
        },
      });
    }
    if (event.type === 'tool.call.result_unknown' && isLost(event.payload.carrying)) {
      return [lostAttempt(scope, state.attempt, readCarrying(event.payload.carrying))];
    }
  }
  const outcome = attemptOutcome(placed);
  if (outcome === null) return writes;
  writes.push({
    op: 'set',
    table: 'attempts',
    where: { tool_call_id: scope.toolCallId, attempt: state.attempt },
    set:
      outcome === 'sent' ? { state: 'sent' } : { state: outcome, settled_at: outcome === 'settled' ? scope.now : null },
    guard: 'attempt',
  });
  return writes;
}

const isLost = (carrying: JsonObject | null | undefined): carrying is JsonObject =>
  carrying !== undefined && carrying !== null;

/** An attempt that may have been made in the time a restored store has lost. */
function lostAttempt(scope: CallScope, attempt: number, carrying: Carrying): Write {
  return {
    op: 'insert',
    table: 'attempts',
    takenGuard: 'attempt',
    row: {
      tool_call_id: scope.toolCallId,
      attempt,
      tenant: scope.tenant,
      nonce: carrying.nonce,
      fence: carrying.fence,
      owner: carrying.owner,
      owner_epoch: carrying.ownerEpoch,
      deadline: carrying.deadline,
      dispatch_intent_at: carrying.deadline,
      state: 'unknown',
      settled_at: null,
    },
  };
}

/** What the newest of the unit's events says about the attempt; null when none says anything. */
function attemptOutcome(placed: readonly PlacedEvent[]): 'sent' | 'unknown' | 'settled' | null {
  let outcome: 'sent' | 'unknown' | 'settled' | null = null;
  for (const { event } of placed) {
    if (event.type === 'tool.call.dispatched') outcome = 'sent';
    if (event.type === 'tool.call.result_unknown') outcome = 'unknown';
    if (event.type === 'tool.call.completed' || event.type === 'tool.call.failed') outcome = 'settled';
  }
  return outcome;
}

export function handoffWrites(scope: CallScope, placed: readonly PlacedEvent[]): Write[] {
  const writes: Write[] = [];
  let reason = 'operator';
  for (const { event, eventId } of placed) {
    if (event.type === 'tool.call.manual_handoff') reason = event.payload.reason;
    if (event.type === 'manual.handoff_opened') {
      writes.push({
        op: 'insert',
        table: 'handoffs',
        takenGuard: 'handoff',
        row: {
          handoff_id: event.payload.handoffId,
          tenant: scope.tenant,
          tool_call_id: scope.toolCallId,
          reason,
          finding: null,
          opened_event_id: eventId,
          resolved_event_id: null,
          opened_at: scope.now,
          resolved_at: null,
        },
      });
    }
    if (event.type === 'manual.handoff_resolved') {
      writes.push({
        op: 'set',
        table: 'handoffs',
        where: { handoff_id: event.payload.handoffId, finding: null },
        set: { finding: event.payload.finding, resolved_event_id: eventId, resolved_at: scope.now },
        guard: 'handoff',
      });
    }
  }
  return writes;
}

/** The kind of work a status stands for; null: nothing is left to do. */
function workKind(state: ToolCallState): 'execute' | 'observe' | 'reconcile' | null {
  switch (state.status) {
    case 'authorized':
      return 'execute';
    case 'dispatching':
    case 'dispatched':
    case 'accepted':
      return 'observe';
    case 'result_unknown':
    case 'reconciling':
      return 'reconcile';
    case 'proposed':
    case 'completed':
    case 'failed':
    case 'manual_handoff':
    case 'denied':
    case 'not_executed':
      return null;
  }
}

/** Keeps the work row in step with the status: present exactly while somebody must still do something. */
export function workWrites(
  scope: CallScope,
  before: ToolCallState | null,
  state: ToolCallState,
  timing: WorkTiming,
): Write[] {
  const kind = workKind(state);
  const had = before !== null && workKind(before) !== null;
  if (kind === null) return had ? [{ op: 'delete', table: 'work', where: { tool_call_id: scope.toolCallId } }] : [];
  // Evidence that only adds to what is known leaves the time of the next step as it is.
  if (timing.nextAt === undefined && before?.status === state.status && queriesOf(before) === queriesOf(state))
    return [];
  const carried = 'owner' in state && kind === 'observe';
  return [
    {
      op: 'put',
      table: 'work',
      row: {
        tool_call_id: scope.toolCallId,
        tenant: scope.tenant,
        capability: state.capability,
        kind,
        fence: 'fence' in state ? state.fence : state.attempt - 1,
        owner: carried ? state.owner : null,
        owner_epoch: carried ? state.ownerEpoch : null,
        claim_until: carried ? state.deadline : null,
        next_at: timing.nextAt ?? ('nextQueryAt' in state ? (state.nextQueryAt ?? scope.now) : scope.now),
        tries: 'queries' in state ? state.queries : 0,
      },
    },
  ];
}

const queriesOf = (state: ToolCallState): number => ('queries' in state ? state.queries : 0);

/** True while another call with the same intent would be a second effect in waiting. */
export function intentIsOpen(state: ToolCallState): boolean {
  switch (state.status) {
    case 'completed':
    case 'failed':
    case 'denied':
    case 'not_executed':
      return false;
    case 'manual_handoff':
      return state.resolution === null;
    case 'proposed':
    case 'authorized':
    case 'dispatching':
    case 'dispatched':
    case 'accepted':
    case 'result_unknown':
    case 'reconciling':
      return true;
  }
}

/**
 * The intent guard: one open call per intent and ordinal. Opening is written by the proposal itself, which knows the
 * ordinal; here the intent closes with the call and opens again with a retry.
 */
export function intentWrites(scope: CallScope, before: ToolCallState | null, state: ToolCallState): Write[] {
  if (before === null || state.effect === 'read_only') return [];
  const [was, is] = [intentIsOpen(before), intentIsOpen(state)];
  if (was && !is) return [{ op: 'delete', table: 'open_intents', where: intentOf(scope, state) }];
  if (!was && is) return [openIntent(scope, state, 0)];
  return [];
}

/** By the key of the table, which is what makes it a search. */
const intentOf = (scope: CallScope, state: ToolCallState): Record<string, string> => ({
  tenant: scope.tenant,
  principal: scope.principal,
  capability: state.capability,
  intent_digest: state.intentDigest,
  tool_call_id: scope.toolCallId,
});

export function openIntent(scope: CallScope, state: ToolCallState, ordinal: number): Write {
  return {
    op: 'insert',
    table: 'open_intents',
    takenGuard: 'open_intent',
    row: {
      tenant: scope.tenant,
      principal: scope.principal,
      capability: state.capability,
      intent_digest: state.intentDigest,
      ordinal,
      tool_call_id: scope.toolCallId,
    },
  };
}
