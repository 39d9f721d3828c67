import { isBefore } from '../events/instant.js';
import type { Voter } from './approval.commands.js';
import type { ApprovalQuestion, ApproverRule, Vote } from './approval.state.js';

/** For what a person may speak: groups of the question, and whose right that rests on besides their own. */
export interface Voice {
  readonly groups: readonly string[];
  readonly onBehalfOf: readonly string[];
}

/** Those of the rules' groups in which this person may decide by their own membership, in the order of the question. */
export function ownGroups(state: ApprovalQuestion, person: Pick<Voter, 'sub' | 'groups'>): string[] {
  return state.rules
    .filter((rule) => !isBarred(rule, person.sub, state) && isAmong(rule, person.groups, state))
    .map(({ group }) => group);
}

/**
 * Own membership, and what others have lent: for this question, or standing. A right is lent once (only one's own), never
 * to the requester, and lends nothing that its owner does not have. Everybody who has lent anything here counts together
 * with the one who speaks.
 */
export function voiceOf(state: ApprovalQuestion, voter: Voter, now: string): Voice {
  const lent = state.requesterSubjects.includes(voter.sub) ? [] : lentTo(state, voter, now);
  const groups = new Set(ownGroups(state, voter));
  for (const right of lent) for (const group of right.groups) groups.add(group);
  return {
    groups: state.rules.map(({ group }) => group).filter((group) => groups.has(group)),
    onBehalfOf: [...new Set(lent.map(({ from }) => from))].toSorted(),
  };
}

/** Distinct people among these votes: whoever is linked by a delegation is one. */
export function distinctPeople(votes: readonly Vote[]): readonly (readonly string[])[] {
  let people: string[][] = [];
  for (const { sub, onBehalfOf = [] } of votes) {
    const together = new Set([sub, ...onBehalfOf]);
    const others = people.filter((person) => {
      const linked = person.some((one) => together.has(one));
      if (linked) for (const one of person) together.add(one);
      return !linked;
    });
    people = [...others, [...together]];
  }
  return people;
}

interface Lent {
  readonly from: string;
  readonly groups: readonly string[];
}

function lentTo(state: ApprovalQuestion, voter: Voter, now: string): Lent[] {
  const here = state.delegations
    .filter(({ to, until }) => to === voter.sub && isBefore(now, until))
    .map(({ from, groups }) => ({ from, groups: ownGroupsAmong(state, from, groups) }));
  const standing = (voter.deputyFor ?? []).map(({ from, groups }) => ({
    from,
    groups: ownGroups(state, { sub: from, groups }),
  }));
  return [...here, ...standing].filter(({ from, groups }) => from !== voter.sub && groups.length > 0);
}

/** What was lent for this question was the lender's own then; who is barred is looked at now. */
function ownGroupsAmong(state: ApprovalQuestion, sub: string, groups: readonly string[]): string[] {
  return state.rules
    .filter((rule) => groups.includes(rule.group) && !isBarred(rule, sub, state))
    .map(({ group }) => group);
}

const isBarred = (rule: ApproverRule, sub: string, state: ApprovalQuestion): boolean =>
  rule.notRequester && state.requesterSubjects.includes(sub);

function isAmong(rule: ApproverRule, groups: readonly string[], state: ApprovalQuestion): boolean {
  if (groups.includes(rule.group)) return true;
  return state.escalations.some(({ group, to }) => group === rule.group && groups.includes(to));
}
