import type { JsonValue } from '../../domain/json/json-value.js';
import type { ToolCallCommand } from '../../domain/tool-call/tool-call.commands.js';
import { contradicts } from '../../domain/tool-call/tool-call.contradict.js';
import type { ToolCallState } from '../../domain/tool-call/tool-call.state.js';
import type { Meaning } from './callback-reading.js';

/** One piece of evidence that is on record and has not been applied. */
export interface Evidence {
  /** The sender's id of it. */
  readonly callbackId: string;
  /** The event that holds it. */
  readonly eventId: string;
  readonly meaning: Meaning;
  readonly effect: JsonValue;
  readonly reference: string | null;
}

export type Outcome = 'applied' | 'ignored' | 'contradicting';

/** What evidence leads to, beside the command for the call. `hand_off`: it contradicts itself and people must look. */
export type Step =
  | { readonly step: 'wait' }
  | { readonly step: 'record'; readonly command: ToolCallCommand | null; readonly outcome: Outcome }
  /** Evidence of an effect for a call that is about to be sent again: it is not. */
  | { readonly step: 'withhold'; readonly command: ToolCallCommand }
  | { readonly step: 'hand_off'; readonly evidenceRefs: readonly string[] };

/** Why nothing followed from a piece of evidence. */
export type Ignored = 'never_sent' | 'not_sent_again' | 'not_final' | 'unexplained' | 'already_settled';

interface Circumstances {
  /** ISO 8601. */
  readonly now: string;
  readonly digest: (value: JsonValue) => string;
}

/**
 * What one piece of evidence means for a call, given everything else that waits beside it. While the attempt is on the
 * wire its own answer comes first, so the order in which answers and callbacks arrive makes no difference. An end never
 * changes: what says otherwise is recorded as a contradiction.
 */
export function stepFor(
  state: ToolCallState,
  evidence: Evidence,
  beside: readonly Evidence[],
  circumstances: Circumstances,
): Step {
  switch (state.status) {
    case 'proposed':
    case 'authorized':
      return beforeSending(state, evidence);
    case 'dispatching':
    case 'dispatched':
      return { step: 'wait' };
    case 'accepted':
    case 'result_unknown':
    case 'reconciling':
      return whileOpen(state, evidence, beside, circumstances);
    case 'completed':
    case 'failed':
    case 'manual_handoff':
    case 'denied':
    case 'not_executed':
      return afterTheEnd(state, evidence);
  }
}

function beforeSending(state: ToolCallState, evidence: Evidence): Step {
  if (state.attempt === 1) return ignored(evidence, 'never_sent');
  if (evidence.meaning !== 'happened') return ignored(evidence, 'not_sent_again');
  return { step: 'withhold', command: contradiction(evidence, 'an earlier attempt was proven to have had no effect') };
}

function whileOpen(
  state: ToolCallState,
  evidence: Evidence,
  beside: readonly Evidence[],
  { now, digest }: Circumstances,
): Step {
  const decisive = [evidence, ...beside].filter(({ meaning }) => meaning === 'happened' || meaning === 'failed');
  if (new Set(decisive.map(({ meaning }) => meaning)).size > 1) {
    return { step: 'hand_off', evidenceRefs: decisive.map(({ eventId }) => eventId) };
  }
  switch (evidence.meaning) {
    case 'happened':
      return applied(happened(state, evidence, now, digest));
    case 'failed':
      return applied(failed(state, evidence, now));
    case 'pending':
      return ignored(evidence, 'not_final');
    case 'unclear':
      return ignored(evidence, 'unexplained');
  }
}

function happened(
  state: ToolCallState,
  { effect, reference, eventId }: Evidence,
  now: string,
  digest: (value: JsonValue) => string,
): ToolCallCommand {
  const completion = {
    basis: 'callback',
    result: effect,
    resultDigest: digest(effect),
    resultTruncated: false,
    externalRequestId: reference,
    evidence: { eventId },
  } as const;
  return state.status === 'accepted'
    ? { kind: 'complete', completion, acceptedAt: now }
    : { kind: 'resolve_happened', resolution: { verdict: 'happened', evidenceRefs: [eventId] }, completion };
}

function failed(state: ToolCallState, { eventId }: Evidence, now: string): ToolCallCommand {
  const failure = {
    code: 'failed_at_tool',
    effect: 'none',
    basis: 'callback',
    retryable: false,
    evidence: { eventId },
  } as const;
  return state.status === 'accepted'
    ? { kind: 'fail', failure, acceptedAt: now }
    : { kind: 'resolve_failed', resolution: { verdict: 'failed', evidenceRefs: [eventId] }, failure };
}

function afterTheEnd(state: ToolCallState, evidence: Evidence): Step {
  const { meaning } = evidence;
  if (meaning === 'pending') return ignored(evidence, 'not_final');
  if (meaning === 'unclear') return ignored(evidence, 'unexplained');
  // People are finding out: the evidence is on record for them, and decides nothing in their place.
  if (isOpenHandoff(state)) return applied(null);
  return contradicts(state, meaning)
    ? {
        step: 'record',
        outcome: 'contradicting',
        command: contradiction(evidence, `the evidence says ${meaning}, the record says ${wordFor(state)}`),
      }
    : ignored(evidence, 'already_settled');
}

export const isOpenHandoff = (state: ToolCallState): boolean =>
  state.status === 'manual_handoff' && state.resolution === null;

const wordFor = (state: ToolCallState): string =>
  state.status === 'manual_handoff' && state.resolution !== null ? state.resolution.finding : state.status;

const contradiction = ({ eventId }: Evidence, meaning: string): ToolCallCommand => ({
  kind: 'record_contradiction',
  contradiction: { evidenceRefs: [eventId], meaning },
});

const applied = (command: ToolCallCommand | null): Step => ({ step: 'record', command, outcome: 'applied' });

const ignored = ({ callbackId }: Evidence, reason: Ignored): Step => ({
  step: 'record',
  outcome: 'ignored',
  command: { kind: 'ignore_callback', ignored: { callbackId, reason } },
});
