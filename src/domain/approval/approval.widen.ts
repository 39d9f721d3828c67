import { refuse } from '../errors/error-codes.js';
import { decided } from '../events/decided.js';
import { earlierOf, isBefore } from '../events/instant.js';
import { dueEscalations } from './approval-progress.js';
import type { ApprovalCommandOf } from './approval.commands.js';
import { ownGroups } from './approval.people.js';
import { endedRefusal, type ApprovalEvent, type DecidedApproval } from './approval.place.js';
import type { ApprovalState } from './approval.state.js';
import { agentRefusal, closedToVotes, outsiderRefusal } from './approval.vote.js';

/** More than this in one question is no help to anybody. */
export const DELEGATIONS_MAX = 50;

/** A person lends their own right in this question. What was lent to them they cannot lend on. */
export function delegate(state: ApprovalState, command: ApprovalCommandOf<'delegate'>): DecidedApproval {
  const { voter, to, reason, now } = command;
  if (voter.isAgent) return agentRefusal();
  const closed = closedToVotes(state, now);
  if (closed !== null) return closed;
  const own = ownGroups(state, voter);
  if (own.length === 0) return outsiderRefusal();
  const groups = own.filter((group) => command.groups === null || command.groups.includes(group));
  if (groups.length !== new Set(command.groups ?? own).size) {
    return refuse('approver_not_allowed', 'You can lend your own right only.');
  }
  if (to === voter.sub || state.requesterSubjects.includes(to)) {
    return refuse('delegate_not_allowed', 'A right is lent to another person who is not the requester.');
  }
  if (state.votes.some(({ sub }) => sub === voter.sub)) {
    return refuse('approval_already_decided', 'You have decided; withdraw your vote before you lend your right.');
  }
  if (command.until !== null && !isBefore(now, command.until)) {
    return refuse('invalid_timestamp', 'The delegation would have ended already.');
  }
  if (state.delegations.length >= DELEGATIONS_MAX) {
    return refuse('delegate_not_allowed', 'This approval has been delegated too often.');
  }
  const until = command.until === null ? state.decideBy : earlierOf(command.until, state.decideBy);
  return decided({ type: 'approval.delegated', payload: { by: { sub: voter.sub }, to, groups, until, reason } });
}

/** Whoever lent a right here takes it back. What the deputy has said meanwhile stands, and counts with its lender as one. */
export function revokeDelegation(
  state: ApprovalState,
  command: ApprovalCommandOf<'revoke_delegation'>,
): DecidedApproval {
  const { voter, to, reason, now } = command;
  if (voter.isAgent) return agentRefusal();
  const closed = closedToVotes(state, now);
  if (closed !== null) return closed;
  const isLent = state.delegations.some((one) => one.from === voter.sub && one.to === to);
  if (!isLent) return refuse('approver_not_allowed', 'You have lent no right to this person here.');
  return decided({ type: 'approval.delegation_revoked', payload: { by: { sub: voter.sub }, to, reason } });
}

/**
 * An approver asks a wider group as well, one that the policy of the question names or the installation lets everybody ask;
 * what it says counts in the group that was asked.
 */
export function escalate(state: ApprovalState, command: ApprovalCommandOf<'escalate'>): DecidedApproval {
  const { voter, to, isForAll, reason, now } = command;
  if (voter.isAgent) return agentRefusal();
  const closed = closedToVotes(state, now);
  if (closed !== null) return closed;
  const own = ownGroups(state, voter);
  if (own.length === 0) return outsiderRefusal();
  const named = state.rules.filter(({ escalation }) => escalation?.group === to).map(({ group }) => group);
  const widenable = own.filter((group) => isForAll || named.includes(group));
  if (widenable.length === 0) {
    return refuse('approver_not_allowed', 'Neither the policy nor the settings let this group be asked here.');
  }
  const groups = widenable.filter(
    (group) => group !== to && !state.escalations.some((one) => one.group === group && one.to === to),
  );
  if (groups.length === 0) return decided();
  const payload = { cause: 'approver' as const, by: { sub: voter.sub }, groups, to, reason };
  return decided({ type: 'approval.escalated', payload });
}

/** What the policy wants widened by now, one fact for each wider group. */
export function escalateDue(state: ApprovalState, now: string): DecidedApproval {
  if (state.status === 'granted') return refuse('approval_already_decided', 'The approval has been granted.');
  if (state.status !== 'pending') return endedRefusal(state);
  const due = dueEscalations(state).filter(({ at }) => !isBefore(now, at));
  if (due.length === 0) return refuse('version_stale', 'Nothing is to be escalated yet.');
  const wider = [...new Set(due.map(({ to }) => to))];
  return decided(
    ...wider.map((to): ApprovalEvent => {
      const groups = due.filter((one) => one.to === to).map(({ group }) => group);
      return { type: 'approval.escalated', payload: { cause: 'timer', groups, to } };
    }),
  );
}
