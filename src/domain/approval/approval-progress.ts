import type { ApprovalState, ApproverRule, Vote } from './approval.state.js';

/** How far one group is: `have` distinct people of the `count` that are needed. */
export interface GroupProgress {
  readonly group: string;
  readonly count: number;
  readonly have: number;
}

/** What a policy may know about the consent of one group. */
export interface ApprovalFacts {
  readonly count: number;
  readonly includesRequester: boolean;
}

/** One line per rule, in the order of the question. */
export function progressOf(state: ApprovalState): readonly GroupProgress[] {
  return state.rules.map((rule) => ({ group: rule.group, count: rule.count, have: peopleFor(rule, state).size }));
}

export function hasQuorum(state: ApprovalState): boolean {
  return state.rules.length > 0 && progressOf(state).every(({ count, have }) => have >= count);
}

/** Everybody whose consent counts for some rule, in the order of their votes. */
export function consenting(state: ApprovalState): readonly string[] {
  return [...new Set(state.votes.filter((vote) => countsSomewhere(vote, state)).map(({ sub }) => sub))];
}

/**
 * Group → the people who allow, for the policy request. Consent that is no longer to be had counts nothing: an approval
 * that was used, refused, expired, invalidated or closed says nobody allows.
 */
export function approvalFacts(state: ApprovalState): Readonly<Record<string, ApprovalFacts>> {
  const live = state.status === 'pending' || state.status === 'granted';
  return Object.fromEntries(
    state.rules.map((rule) => {
      const people = live ? peopleFor(rule, state) : new Set<string>();
      const includesRequester = state.requesterSubjects.some((requester) => people.has(requester));
      return [rule.group, { count: people.size, includesRequester }];
    }),
  );
}

/** The groups of the question for which this person may decide: being in the group, and not the requester where that is asked. */
export function groupsFor(
  state: ApprovalState,
  person: { readonly sub: string; readonly groups: readonly string[] },
): string[] {
  return state.rules.filter((rule) => mayDecide(rule, person, state)).map(({ group }) => group);
}

function peopleFor(rule: ApproverRule, state: ApprovalState): Set<string> {
  return new Set(state.votes.filter((vote) => counts(rule, vote, state)).map(({ sub }) => sub));
}

function countsSomewhere(vote: Vote, state: ApprovalState): boolean {
  return state.rules.some((rule) => counts(rule, vote, state));
}

function counts(rule: ApproverRule, vote: Vote, state: ApprovalState): boolean {
  return vote.decision === 'allow' && mayDecide(rule, vote, state);
}

function mayDecide(
  rule: ApproverRule,
  person: { readonly sub: string; readonly groups: readonly string[] },
  state: ApprovalState,
): boolean {
  const excluded = rule.notRequester && state.requesterSubjects.includes(person.sub);
  return person.groups.includes(rule.group) && !excluded;
}
