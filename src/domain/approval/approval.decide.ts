import { refuse } from '../errors/error-codes.js';
import { decided, mustHold } from '../events/decided.js';
import { isBefore } from '../events/instant.js';
import type { ApprovalCommand, ApprovalCommandOf } from './approval.commands.js';
import { breakGlass, edit, review } from './approval.emergency.js';
import { readRules } from './approval.evolve.js';
import { endedRefusal, whileLive, type DecidedApproval } from './approval.place.js';
import type { ApprovalState } from './approval.state.js';
import { expiredRefusal, vote, withdrawVote } from './approval.vote.js';
import { delegate, escalate, escalateDue, revokeDelegation } from './approval.widen.js';

/**
 * What a command makes true of an approval, or why it is refused: state-machines §3 with decisions 8, 28 and 32.
 * `approval.transitions.ts` says the same as a table. A refusal with `approval_expired` while the approval is still
 * pending or granted is the caller's cue to issue `expire`. Throws a plain `Error` for a question nobody could answer.
 */
export function decideApproval(state: ApprovalState | null, command: ApprovalCommand): DecidedApproval {
  if (command.kind === 'ask') return ask(state, command);
  if (state === null) return refuse('approval_not_found', 'There is no such approval.');
  switch (command.kind) {
    case 'vote':
      return vote(state, command);
    case 'withdraw_vote':
      return withdrawVote(state, command);
    case 'delegate':
      return delegate(state, command);
    case 'revoke_delegation':
      return revokeDelegation(state, command);
    case 'escalate':
      return escalate(state, command);
    case 'escalate_due':
      return escalateDue(state, command.now);
    case 'break_glass':
      return breakGlass(state, command);
    case 'review':
      return review(state, command);
    case 'edit':
      return edit(state, command);
    case 'expire':
      return expire(state, command.now);
    case 'invalidate':
      return whileLive(state, { type: 'approval.invalidated', payload: command.invalidation });
    case 'consume':
      return consume(state, command);
    case 'close':
      return whileLive(state, { type: 'approval.closed', payload: command.closing });
  }
}

/** AP1. */
function ask(state: ApprovalState | null, { question }: ApprovalCommandOf<'ask'>): DecidedApproval {
  if (state !== null) return refuse('duplicate_id', 'An approval with this id exists.');
  mustHold(readRules(question.groups).length > 0, 'an approval asks somebody');
  mustHold(question.expiresAt === question.decideBy, 'a pending approval expires at decideBy');
  mustHold(question.executionWindowMs > 0, 'a grant leaves time to execute');
  return decided({ type: 'approval.required', payload: question });
}

/** AP4, AP7: a deadline that has passed becomes a fact; nobody has to look at the approval for that. */
function expire(state: ApprovalState, now: string): DecidedApproval {
  if (state.status !== 'pending' && state.status !== 'granted') return endedRefusal(state);
  const [clock, deadline] =
    state.status === 'pending' ? (['decide', state.decideBy] as const) : (['execute', state.executeBy] as const);
  if (isBefore(now, deadline)) return refuse('version_stale', 'The deadline that is in force now has not passed.');
  return decided({ type: 'approval.expired', payload: { clock, deadline, noticedAt: now } });
}

/** AP6, AP12: used once, in time, for the attempt it was asked for. */
function consume(state: ApprovalState, { consumption, now }: ApprovalCommandOf<'consume'>): DecidedApproval {
  if (state.status === 'pending') return refuse('approval_missing', 'The approval has not been granted.');
  if (state.status !== 'granted') return endedRefusal(state);
  if (consumption.attempt !== state.attempt)
    return refuse('approval_missing', 'Each attempt needs an approval of its own.');
  if (!isBefore(now, state.executeBy)) return expiredRefusal();
  return decided({ type: 'approval.consumed', payload: consumption });
}
