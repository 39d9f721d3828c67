import type { NotExecutedReason } from '../events/catalogue.js';
import { retryRefusal } from '../tool-call/tool-call.retry.js';
import type { DenialBasis, ToolCallIn, ToolCallState } from '../tool-call/tool-call.state.js';

/** Who or what has to move before the call can go on; null when it has ended. */
export type WaitingFor = 'approval' | 'execution' | 'upstream' | 'reconciliation' | 'operator' | null;

/** Whether the effect is in the world: `partly` and `unknown` are answers of their own and never read as no. */
export type Happened = 'no' | 'yes' | 'partly' | 'unknown';

/**
 * What may be believed about a call, read from its state alone (K-13, K-146): whether the effect may exist, whether
 * another attempt could double it, who moves next, and one sentence of it for the model.
 */
export interface Disposition {
  readonly happened: Happened;
  /** False only when it is certain that there is no effect. */
  readonly mayHaveHappened: boolean;
  /** An open run is asked for too; that is not in the state of the call. */
  readonly retryAllowed: boolean;
  /** Words: when refused, the error code that a retry would answer and then why; when allowed, the proof of no effect. */
  readonly retryReasons: readonly string[];
  readonly waitingFor: WaitingFor;
  /** For the model: what is known, and whether to call again. Holds no arguments and nothing an agent wrote. */
  readonly guidance: string;
}

export function dispositionOf(state: ToolCallState): Disposition {
  const happened = happenedIn(state);
  const refusal = retryRefusal(state);
  return {
    happened,
    mayHaveHappened: happened !== 'no',
    retryAllowed: refusal === null,
    retryReasons: refusal === null ? [situationWord(state)] : [refusal.code, situationWord(state)],
    waitingFor: waitingForIn(state),
    guidance: guidanceFor(state),
  };
}

function happenedIn(state: ToolCallState): Happened {
  if (state.contradicted) return 'unknown';
  switch (state.status) {
    case 'proposed':
    case 'authorized':
    case 'denied':
    case 'not_executed':
      return 'no';
    case 'dispatching':
    case 'dispatched':
    case 'accepted':
    case 'result_unknown':
    case 'reconciling':
      return 'unknown';
    case 'completed':
      return 'yes';
    case 'failed':
      return ({ none: 'no', partial: 'partly', full: 'yes' } as const)[state.knownEffect];
    case 'manual_handoff':
      return foundIn(state);
  }
}

/** A finding without evidence is no proof of absence. */
function foundIn({ resolution }: ToolCallIn<'manual_handoff'>): Happened {
  if (resolution === null) return 'unknown';
  switch (resolution.finding) {
    case 'happened':
      return 'yes';
    case 'partial':
      return 'partly';
    case 'unknowable':
      return 'unknown';
    case 'not_happened':
      return resolution.evidenceRefs.length > 0 ? 'no' : 'unknown';
  }
}

function waitingForIn(state: ToolCallState): WaitingFor {
  switch (state.status) {
    case 'proposed':
      return 'approval';
    case 'authorized':
    case 'dispatching':
      return 'execution';
    case 'dispatched':
    case 'accepted':
      return 'upstream';
    case 'result_unknown':
    case 'reconciling':
      return 'reconciliation';
    case 'manual_handoff':
      return state.resolution === null ? 'operator' : null;
    case 'completed':
    case 'failed':
    case 'denied':
    case 'not_executed':
      return null;
  }
}

function situationWord(state: ToolCallState): string {
  if (state.contradicted) return 'contradicted_by_evidence';
  switch (state.status) {
    case 'failed':
      if (state.knownEffect !== 'none') return `failed_with_${state.knownEffect}_effect`;
      return state.retryable ? 'failed_without_effect' : 'rejected_for_good';
    case 'manual_handoff':
      return state.resolution === null ? 'handoff_unresolved' : `found_${state.resolution.finding}`;
    case 'proposed':
    case 'authorized':
    case 'dispatching':
    case 'dispatched':
    case 'accepted':
    case 'result_unknown':
    case 'reconciling':
    case 'completed':
    case 'denied':
    case 'not_executed':
      return state.status;
  }
}

function guidanceFor(state: ToolCallState): string {
  if (state.contradicted) {
    return 'Evidence contradicts what is recorded about it, so it is not known whether it ran; do not call again; a person has to look.';
  }
  switch (state.status) {
    case 'proposed':
      return 'It has not run and waits for the decision of people; do not propose it again, look at the state of this call.';
    case 'authorized':
      return 'It is allowed and has not been sent yet; do not call again, look at the state of this call.';
    case 'dispatching':
    case 'dispatched':
      return 'It is being carried out and may have happened already; do not call again, look at the state of this call.';
    case 'accepted':
      return 'The tool has taken it on and the result is still to come; do not call again, look at the state of this call.';
    case 'result_unknown':
    case 'reconciling':
      return 'It is not known whether it ran; do not call again; look at the state of this call.';
    case 'completed':
      return 'It has run and this is its result; do not call again for the same intent.';
    case 'failed':
      return failedGuidance(state);
    case 'manual_handoff':
      return state.resolution === null
        ? 'It is not known whether it ran and a person is finding out; do not call again; look at the state of this call.'
        : FOUND_GUIDANCE[foundIn(state)];
    case 'denied':
      return DENIED_GUIDANCE[state.deniedBy];
    case 'not_executed':
      return NOT_EXECUTED_GUIDANCE[state.reason];
  }
}

function failedGuidance(state: ToolCallIn<'failed'>): string {
  if (state.code === 'cancelled' && state.knownEffect === 'none') {
    return 'The tool confirmed that it was cancelled and had no effect; do not call again unless it is asked for.';
  }
  switch (state.knownEffect) {
    case 'none':
      return state.retryable
        ? 'It failed and had no effect; a retry of this call is safe.'
        : 'It was rejected and had no effect; do not repeat it, propose a corrected call instead.';
    case 'partial':
      return 'It failed after a part of it had happened; do not call again, a person has to decide what follows.';
    case 'full':
      return 'The tool reported a failure although the effect has happened; do not call again.';
  }
}

const BY_POLICY = 'It has not run because policy does not allow it; do not call again with the same arguments.';
const BY_PEOPLE =
  'It has not run because people refused it; do not call again unless the person you act for asks for it.';
const DENIED_GUIDANCE: Readonly<Record<DenialBasis, string>> = {
  policy: BY_POLICY,
  policy_at_dispatch: BY_POLICY,
  approval: BY_PEOPLE,
  refusal: BY_PEOPLE,
  precondition:
    'It has not run because something that it rests on is not so; propose again only when that has changed.',
};

/** An expiry is nobody's refusal, and what was stopped on purpose is not to be started again unasked. */
const NOT_EXECUTED_GUIDANCE: Readonly<Record<NotExecutedReason, string>> = {
  approval_expired: 'It has not run because its approval expired and nobody refused it; trying again is safe.',
  approval_closed: 'It has not run because its approval was closed without a decision; trying again is safe.',
  authorization_expired: 'It has not run because the time in which it could be sent is over; trying again is safe.',
  cancelled: 'It has not run because it was cancelled; trying again is safe, but only when it is asked for.',
  stopped: 'It has not run because the run was stopped; trying again is safe, but only when it is asked for.',
  run_ended: 'It has not run because the run had ended; trying again in a new run is safe.',
  interrupted: 'It has not run because the work was interrupted; trying again is safe.',
  superseded: 'It has not run because another call took its place; trying again is safe, but look at that call first.',
  contradicted:
    'It has not run because evidence says that an earlier attempt ran; nothing is safe to send until a person has looked.',
  lease_refused:
    'It has not run because what it needs may not be lent for it; trying again is safe once an operator has looked.',
  precondition_failed:
    'It has not run because something that it rests on is not so; trying again is safe once that has changed.',
  digest_mismatch:
    'It has not run because what was stored is not what was allowed; trying again is safe once that is cleared up.',
};

const FOUND_GUIDANCE: Readonly<Record<Happened, string>> = {
  no: 'A person has found that it did not happen; a retry of this call or a new proposal is safe.',
  yes: 'A person has found that it happened; do not call again for the same intent.',
  partly: 'A person has found that a part of it happened; do not call again, a person has to decide what follows.',
  unknown: 'A person looked and could not establish whether it ran; do not call again without being asked to.',
};
