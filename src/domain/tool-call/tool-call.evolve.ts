import type { DomainEvent, EventPayload } from '../events/catalogue.js';
import { isIn, type EventIn } from '../events/domain-event.js';
import { readPrincipal, readTexts, readWord } from '../events/payload-reading.js';
import { EFFECTS, RISKS, type Carrying, type ToolCallLife, type ToolCallState } from './tool-call.state.js';

/**
 * The state of a tool call after one more event of its stream. Never judges: what is recorded has happened. Throws a
 * plain `Error` only where no state can be made of it: an event of another stream, or one that needs an earlier event
 * which the history does not have.
 */
export function evolveToolCall(state: ToolCallState | null, event: DomainEvent): ToolCallState {
  if (!isIn('call', event)) throw new Error(`${event.type} is not an event of a tool call`);
  if (event.type === 'tool.call.proposed') return { ...newLife(event.payload), status: 'proposed' };
  if (state === null) throw new Error(`${event.type} cannot be the first event of a tool call`);
  return evolve(state, event);
}

/** Folds events onto a state; `null` with the whole stream gives what the stored row must say. */
export function foldToolCall(state: ToolCallState | null, events: readonly DomainEvent[]): ToolCallState | null {
  return events.reduce<ToolCallState | null>(evolveToolCall, state);
}

type LaterEvent = Exclude<EventIn<'call'>, { readonly type: 'tool.call.proposed' }>;

function evolve(state: ToolCallState, event: LaterEvent): ToolCallState {
  const life = lifeOf(state);
  switch (event.type) {
    case 'policy.decided':
    case 'tool.call.callback_received':
    case 'tool.call.callback_ignored':
    case 'tool.call.contradiction_recorded':
    case 'reconciliation.resolved':
      return state;
    case 'capability.authorized':
      return { ...life, status: 'authorized', basis: event.payload.basis, executeBy: event.payload.executeBy };
    case 'capability.authorization_withdrawn':
      return { ...life, status: 'proposed' };
    case 'tool.call.denied':
      return { ...life, status: 'denied', deniedBy: event.payload.basis };
    case 'tool.call.not_executed':
      return { ...life, status: 'not_executed', reason: event.payload.reason };
    case 'tool.call.dispatching':
      return { ...life, status: 'dispatching', ...newCarrying(event.payload) };
    case 'tool.call.dispatched':
      return { ...referenced(life, event.payload.externalRequestId), status: 'dispatched', ...carryingOf(state) };
    case 'tool.call.accepted':
      return { ...referenced(life, event.payload.externalRequestId), status: 'accepted', ...carryingOf(state) };
    case 'tool.call.completed':
      return {
        ...ended(referenced(life, event.payload.externalRequestId)),
        status: 'completed',
        resultBasis: event.payload.basis,
      };
    case 'tool.call.failed': {
      const { code, effect, retryable } = event.payload;
      return { ...ended(life), status: 'failed', code, knownEffect: effect, retryable };
    }
    case 'tool.call.result_unknown': {
      const { cause, externalRequestId } = event.payload;
      return { ...referenced(life, externalRequestId), status: 'result_unknown', cause, ...carryingOf(state) };
    }
    case 'reconciliation.started':
      return reconciling(state, event.payload);
    case 'reconciliation.attempted':
      return queried(state, event.payload);
    case 'tool.call.manual_handoff':
      return { ...ended(life), status: 'manual_handoff', handoffId: null, resolution: null };
    case 'manual.handoff_opened':
      return { ...inHandoff(state), handoffId: event.payload.handoffId };
    case 'manual.handoff_resolved': {
      const { finding, evidenceRefs } = event.payload;
      return { ...inHandoff(state), resolution: { finding, evidenceRefs: readTexts(evidenceRefs) } };
    }
    case 'tool.call.retry_accepted':
      return { ...ended(life), status: 'proposed', attempt: event.payload.attempt, externalRequestId: null };
    case 'tool.cancellation_requested':
      return { ...state, cancellationRequested: true };
    case 'tool.cancelled':
    case 'external_action_irreversible':
      return { ...state, cancellationRequested: false };
  }
}

function newLife(proposal: EventPayload<'tool.call.proposed'>): ToolCallLife {
  return {
    capability: proposal.capability,
    capabilityVersion: proposal.capabilityVersion,
    manifestDigest: proposal.manifestDigest,
    effect: readWord(EFFECTS, proposal.effect),
    risk: readWord(RISKS, proposal.risk),
    principal: readPrincipal(proposal.principal),
    argsDigest: proposal.argsDigest,
    intentDigest: proposal.intentDigest,
    downstreamKey: proposal.downstreamKey,
    executeBefore: proposal.executeBefore ?? null,
    attempt: 1,
    cancellationRequested: false,
    externalRequestId: null,
  };
}

/** What every status has, without what only the present one has. */
function lifeOf(state: ToolCallState): ToolCallLife {
  return {
    capability: state.capability,
    capabilityVersion: state.capabilityVersion,
    manifestDigest: state.manifestDigest,
    effect: state.effect,
    risk: state.risk,
    principal: state.principal,
    argsDigest: state.argsDigest,
    intentDigest: state.intentDigest,
    downstreamKey: state.downstreamKey,
    executeBefore: state.executeBefore,
    attempt: state.attempt,
    cancellationRequested: state.cancellationRequested,
    externalRequestId: state.externalRequestId,
  };
}

/** Whatever was asked of the tool has had its answer, or never will. */
function ended(life: ToolCallLife): ToolCallLife {
  return { ...life, cancellationRequested: false };
}

/** The provider's reference is kept once known; an event that does not tell it takes nothing away. */
function referenced(life: ToolCallLife, externalRequestId: string | null | undefined): ToolCallLife {
  return { ...life, externalRequestId: externalRequestId ?? life.externalRequestId };
}

function newCarrying({ nonce, fence, owner, ownerEpoch, deadline }: EventPayload<'tool.call.dispatching'>): Carrying {
  return { nonce, fence, owner, ownerEpoch, deadline };
}

function carryingOf(state: ToolCallState): Carrying {
  if (!('nonce' in state)) throw new Error('the history lacks tool.call.dispatching');
  const { nonce, fence, owner, ownerEpoch, deadline } = state;
  return { nonce, fence, owner, ownerEpoch, deadline };
}

function reconciling(state: ToolCallState, start: EventPayload<'reconciliation.started'>): ToolCallState {
  if (!('cause' in state)) throw new Error('the history lacks tool.call.result_unknown');
  return {
    ...lifeOf(state),
    status: 'reconciling',
    ...carryingOf(state),
    cause: state.cause,
    strategy: start.strategy,
    reconciliationDeadline: start.deadline,
    queries: 0,
    nextQueryAt: null,
  };
}

function queried(state: ToolCallState, query: EventPayload<'reconciliation.attempted'>): ToolCallState {
  if (state.status !== 'reconciling') throw new Error('the history lacks reconciliation.started');
  return { ...state, queries: query.n, nextQueryAt: query.nextAt };
}

function inHandoff(state: ToolCallState): ToolCallState & { readonly status: 'manual_handoff' } {
  if (state.status !== 'manual_handoff') throw new Error('the history lacks tool.call.manual_handoff');
  return state;
}
