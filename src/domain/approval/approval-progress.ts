import { distinctPeople } from './approval.people.js';
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
  return state.rules.map((rule) => ({ group: rule.group, count: rule.count, have: peopleFor(rule, state).length }));
}

export function hasQuorum(state: ApprovalState): boolean {
  return state.rules.length > 0 && progressOf(state).every(({ count, have }) => have >= count);
}

/** What a grant rests on: everybody who is asked, or somebody trusted with emergencies. */
export function hasConsent(state: ApprovalState): boolean {
  return state.breakGlass !== null || hasQuorum(state);
}

/** Everybody whose consent counts for some rule, in the order of their votes. */
export function consenting(state: ApprovalState): readonly string[] {
  return [...new Set(state.votes.filter((vote) => countsSomewhere(vote, state)).map(({ sub }) => sub))];
}

/**
 * Group → the people who allow, for the policy request. Consent that is no longer to be had counts nothing: an approval
 * that was used, refused, expired, invalidated or closed says nobody allows. An emergency stands for exactly what was
 * asked; that it is one is a fact of its own.
 */
export function approvalFacts(state: ApprovalState): Readonly<Record<string, ApprovalFacts>> {
  const live = state.status === 'pending' || state.status === 'granted';
  return Object.fromEntries(
    state.rules.map((rule) => {
      const people = live ? peopleFor(rule, state) : [];
      const given = live && state.breakGlass !== null ? rule.count : 0;
      const includesRequester = people.flat().some((sub) => state.requesterSubjects.includes(sub));
      return [rule.group, { count: Math.max(given, people.length), includesRequester }];
    }),
  );
}

/** True while somebody still has to look at what was let pass in an emergency. */
export function owesReview(state: ApprovalState): boolean {
  return state.breakGlass !== null && state.review === null;
}

/** When the next rule of a pending question is to be widened; null when none is. */
export function escalateAt(state: ApprovalState): string | null {
  if (state.status !== 'pending') return null;
  return (
    dueEscalations(state)
      .map(({ at }) => at)
      .toSorted()[0] ?? null
  );
}

/** What the policy wants widened and is not yet. */
export function dueEscalations(
  state: ApprovalState,
): readonly { readonly group: string; readonly to: string; readonly at: string }[] {
  return state.rules.flatMap(({ group, escalation }) => {
    if (escalation === undefined) return [];
    const done = state.escalations.some((one) => one.group === group && one.to === escalation.group);
    return done ? [] : [{ group, to: escalation.group, at: escalation.at }];
  });
}

function peopleFor(rule: ApproverRule, state: ApprovalState): readonly (readonly string[])[] {
  return distinctPeople(state.votes.filter((vote) => counts(rule, vote, state)));
}

function countsSomewhere(vote: Vote, state: ApprovalState): boolean {
  return state.rules.some((rule) => counts(rule, vote, state));
}

function counts(rule: ApproverRule, { sub, decision, groups }: Vote, state: ApprovalState): boolean {
  const barred = rule.notRequester && state.requesterSubjects.includes(sub);
  return decision === 'allow' && groups.includes(rule.group) && !barred;
}
