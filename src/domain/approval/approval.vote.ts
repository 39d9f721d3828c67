import { refuse, type Refusal } from '../errors/error-codes.js';
import { decided } from '../events/decided.js';
import { earlierOf, isBefore, millisOf, timeAt } from '../events/instant.js';
import { consenting, hasConsent, hasQuorum } from './approval-progress.js';
import type { ApprovalCommandOf } from './approval.commands.js';
import { evolveApproval } from './approval.evolve.js';
import { endedRefusal, type ApprovalEvent, type DecidedApproval } from './approval.place.js';
import { voiceOf, type Voice } from './approval.people.js';
import type { ApprovalState } from './approval.state.js';

/**
 * What one person's word does (state-machines §3, decisions 8, 28, 32). One eligible deny denies; an allow counts in
 * every group of the question that the person is in; when every group has its people the approval is granted, with the
 * second clock set. The same word again changes nothing, another word by the same person is refused.
 */
export function vote(state: ApprovalState, command: ApprovalCommandOf<'vote'>): DecidedApproval {
  const { voter, decision, consentDigest, now } = command;
  if (voter.isAgent) return agentRefusal();
  const earlier = state.votes.find(({ sub }) => sub === voter.sub);
  if (earlier?.decision === decision) return decided();
  if (earlier !== undefined) return refuse('approval_already_decided', `You have decided: ${earlier.decision}.`);
  const closed = closedToVotes(state, now);
  if (closed !== null) return closed;
  const voice = voiceOf(state, voter, now);
  if (voice.groups.length === 0) return outsiderRefusal();
  if (consentDigest !== state.consentDigest) {
    return refuse('action_digest_mismatch', 'What you decided on is not what this approval shows.');
  }
  return cast(state, command, voice);
}

/** Until the approval is used a person may take their own vote back; a grant that loses its quorum is no grant. */
export function withdrawVote(state: ApprovalState, command: ApprovalCommandOf<'withdraw_vote'>): DecidedApproval {
  const { voter, reason, now } = command;
  if (voter.isAgent) return agentRefusal();
  if (state.status !== 'pending' && state.status !== 'granted') return endedRefusal(state);
  if (!isBefore(now, state.status === 'pending' ? state.decideBy : state.executeBy)) return expiredRefusal();
  if (!state.votes.some(({ sub }) => sub === voter.sub)) {
    return refuse('approver_not_allowed', 'You can withdraw your own vote only, and there is none.');
  }
  const withdrawn: ApprovalEvent = { type: 'approval.vote_withdrawn', payload: { by: { sub: voter.sub }, reason } };
  if (state.status === 'pending' || hasConsent(evolveApproval(state, withdrawn))) return decided(withdrawn);
  return decided(withdrawn, { type: 'approval.invalidated', payload: { reason: 'vote_withdrawn' } });
}

export function expiredRefusal(): Refusal {
  return refuse('approval_expired', 'The deadline of the approval has passed.');
}

export function outsiderRefusal(): Refusal {
  return refuse('approver_not_allowed', 'You are not among the people this approval asks.');
}

export function agentRefusal(): Refusal {
  return refuse('approver_not_allowed', "An agent's own credential can never decide.");
}

/** V1 and V2: the question is still open. */
export function closedToVotes(state: ApprovalState, now: string): Refusal | null {
  switch (state.status) {
    case 'pending':
      return isBefore(now, state.decideBy) ? null : expiredRefusal();
    case 'granted':
    case 'consumed':
      return refuse('approval_already_decided', 'The approval has been granted.');
    case 'denied':
    case 'expired':
    case 'invalidated':
    case 'closed':
      return endedRefusal(state);
  }
}

function cast(state: ApprovalState, command: ApprovalCommandOf<'vote'>, voice: Voice): DecidedApproval {
  const { voter, decision, consentDigest, reason, now } = command;
  const { groups, onBehalfOf } = voice;
  const lent = onBehalfOf.length === 0 ? {} : { onBehalfOf };
  const recorded: ApprovalEvent = {
    type: 'approval.vote_recorded',
    payload: { by: { sub: voter.sub }, decision, groups, consentDigest, reason, ...lent },
  };
  if (decision === 'deny') {
    const denial = { decidedBy: [voter.sub], decidedAt: now, comment: reason };
    return decided(recorded, { type: 'approval.denied', payload: denial });
  }
  const after = evolveApproval(state, recorded);
  return hasQuorum(after) ? decided(recorded, granted(after, consenting(after), now)) : decided(recorded);
}

/** Decision 32: the second clock starts now and never runs past the time the question named. */
export function granted(state: ApprovalState, decidedBy: readonly string[], now: string): ApprovalEvent {
  const windowEnd = timeAt(millisOf(now) + state.executionWindowMs);
  const executeBy = earlierOf(windowEnd, state.executeByLatest);
  return { type: 'approval.granted', payload: { decidedBy, decidedAt: now, executeBy } };
}
