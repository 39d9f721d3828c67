import type { DomainEvent, EventPayload } from '../events/catalogue.js';
import { isIn, type EventIn } from '../events/domain-event.js';
import { readTexts, readWord } from '../events/payload-reading.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.js';
import { RISKS } from '../tool-call/tool-call.state.js';
import type {
  ApprovalQuestion,
  ApprovalState,
  ApprovalStatus,
  ApproverRule,
  Delegation,
  Escalation,
  Vote,
} from './approval.state.js';

/**
 * The state of an approval after one more event of its stream. Never judges; throws a plain `Error` only where no state
 * can be made: an event of another stream, or one that needs an earlier event which the history does not have.
 */
export function evolveApproval(state: ApprovalState | null, event: DomainEvent): ApprovalState {
  if (!isIn('approval', event)) throw new Error(`${event.type} is not an event of an approval`);
  if (event.type === 'approval.required') return become(newQuestion(event.payload), { status: 'pending' });
  if (state === null) throw new Error(`${event.type} cannot be the first event of an approval`);
  return evolve(state, event);
}

/** Folds events onto a state; `null` with the whole stream gives what the stored row must say. */
export function foldApproval(state: ApprovalState | null, events: readonly DomainEvent[]): ApprovalState | null {
  return events.reduce<ApprovalState | null>(evolveApproval, state);
}

type LaterEvent = Exclude<EventIn<'approval'>, { readonly type: 'approval.required' }>;

function evolve(state: ApprovalState, event: LaterEvent): ApprovalState {
  switch (event.type) {
    case 'approval.vote_recorded':
      return { ...state, votes: [...votesWithout(state, event.payload.by), voteOf(event.payload)] };
    case 'approval.vote_withdrawn':
      return withoutVote(state, event.payload.by);
    case 'approval.delegated':
      return { ...state, delegations: [...state.delegations, delegationOf(event.payload)] };
    case 'approval.delegation_revoked':
      return { ...state, delegations: delegationsWithout(state, event.payload) };
    case 'approval.escalated':
      return { ...state, escalations: [...state.escalations, ...escalationsOf(event.payload)] };
    case 'approval.break_glass_used':
      return { ...state, breakGlass: { by: subOf(event.payload.by) } };
    case 'approval.review_recorded':
      return { ...state, review: { by: subOf(event.payload.by), finding: event.payload.finding } };
    case 'approval.edited':
      return state;
    case 'approval.granted': {
      const { executeBy, decidedBy } = event.payload;
      return become(questionOf(state), { status: 'granted', executeBy, decidedBy: readTexts(decidedBy) });
    }
    case 'approval.denied':
      return become(questionOf(state), { status: 'denied', decidedBy: readTexts(event.payload.decidedBy) });
    case 'approval.expired':
      return become(questionOf(state), { status: 'expired', clock: event.payload.clock });
    case 'approval.invalidated':
      return become(questionOf(state), { status: 'invalidated', reason: event.payload.reason });
    case 'approval.consumed':
      if (state.status !== 'granted') throw new Error('the history lacks approval.granted');
      return { ...state, status: 'consumed' };
    case 'approval.closed':
      return become(questionOf(state), { status: 'closed', reason: event.payload.reason });
  }
}

/** `Object.assign` for the reason that `tool-call.evolve.ts` gives. */
function become<const T extends { readonly status: ApprovalStatus }>(
  question: ApprovalQuestion,
  status: T,
): ApprovalQuestion & T {
  return Object.assign(question, status);
}

function newQuestion(question: EventPayload<'approval.required'>): ApprovalQuestion {
  return {
    attempt: question.attempt,
    risk: readWord(RISKS, question.risk),
    capability: question.capability,
    capabilityVersion: question.capabilityVersion,
    manifestDigest: question.manifestDigest,
    argsDigest: question.argsDigest,
    consentDigest: question.consentDigest,
    policyRevision: question.policyRevision,
    rules: readRules(question.groups),
    requesterSubjects: readTexts(question.requesterSubjects),
    decideBy: question.decideBy,
    executionWindowMs: question.executionWindowMs,
    executeByLatest: question.executeByLatest,
    votes: [],
    batchId: question.approvalBatchId ?? null,
    delegations: [],
    escalations: [],
    breakGlass: null,
    review: null,
  };
}

/** A copy of what every status has. */
function questionOf(state: ApprovalState): ApprovalQuestion {
  return {
    attempt: state.attempt,
    risk: state.risk,
    capability: state.capability,
    capabilityVersion: state.capabilityVersion,
    manifestDigest: state.manifestDigest,
    argsDigest: state.argsDigest,
    consentDigest: state.consentDigest,
    policyRevision: state.policyRevision,
    rules: state.rules,
    requesterSubjects: state.requesterSubjects,
    decideBy: state.decideBy,
    executionWindowMs: state.executionWindowMs,
    executeByLatest: state.executeByLatest,
    votes: state.votes,
    batchId: state.batchId,
    delegations: state.delegations,
    escalations: state.escalations,
    breakGlass: state.breakGlass,
    review: state.review,
  };
}

/** `[{group, count, notRequester, escalation?}]` of the question. A rule that nobody or everybody could meet was never asked by us. */
export function readRules(list: readonly JsonValue[]): readonly ApproverRule[] {
  return list.map((item) => {
    if (!isJsonObject(item)) throw new Error('an approver rule is an object');
    const { group, count, notRequester } = item;
    if (typeof group !== 'string' || typeof count !== 'number' || typeof notRequester !== 'boolean') {
      throw new Error('an approver rule has group, count and notRequester');
    }
    if (!Number.isSafeInteger(count) || count < 1) throw new Error('an approver rule asks for at least one person');
    const escalation = escalationIn(item['escalation']);
    return { group, count, notRequester, ...(escalation === null ? {} : { escalation }) };
  });
}

function escalationIn(value: JsonValue | undefined): { readonly group: string; readonly at: string } | null {
  if (value === undefined) return null;
  const { group, at } = isJsonObject(value) ? value : {};
  if (typeof group !== 'string' || typeof at !== 'string') throw new Error('an escalation has group and time');
  return { group, at };
}

function voteOf({ by, decision, groups, onBehalfOf }: EventPayload<'approval.vote_recorded'>): Vote {
  const vote = { sub: subOf(by), decision, groups: readTexts(groups) };
  const lenders = readTexts(onBehalfOf ?? []);
  return lenders.length === 0 ? vote : { ...vote, onBehalfOf: lenders };
}

function delegationOf({ by, to, until, groups }: EventPayload<'approval.delegated'>): Delegation {
  return { from: subOf(by), to, until, groups: readTexts(groups) };
}

function delegationsWithout(
  { delegations }: ApprovalState,
  { by, to }: EventPayload<'approval.delegation_revoked'>,
): readonly Delegation[] {
  return delegations.filter((one) => one.from !== subOf(by) || one.to !== to);
}

function escalationsOf({ groups, to }: EventPayload<'approval.escalated'>): readonly Escalation[] {
  return readTexts(groups).map((group) => ({ group, to }));
}

function votesWithout(state: ApprovalState, by: JsonObject): readonly Vote[] {
  const sub = subOf(by);
  return state.votes.filter((vote) => vote.sub !== sub);
}

/** A consent that was taken back no longer stands behind the grant either. */
function withoutVote(state: ApprovalState, by: JsonObject): ApprovalState {
  const votes = votesWithout(state, by);
  if (state.status !== 'granted') return { ...state, votes };
  return { ...state, votes, decidedBy: state.decidedBy.filter((sub) => sub !== subOf(by)) };
}

function subOf(by: JsonObject): string {
  if (typeof by['sub'] !== 'string') throw new Error('a vote has a subject');
  return by['sub'];
}
