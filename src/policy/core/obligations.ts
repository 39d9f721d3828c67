import type { Risk } from '../../domain/tool-call/tool-call.state.js';
import type { Ask } from './annotations.js';
import type { AskedRule, GroupFacts, Obligations } from './policy-types.js';

export type ApprovalFacts = Readonly<Record<string, GroupFacts>>;

/** What the installation says where a policy does not. */
export interface ObligationDefaults {
  readonly decideWithinMs: number;
  readonly executionWindowMs: number;
}

/**
 * The facts as they would be when everything that is asked for had been given, and nothing more: of each asked group exactly the
 * quorum, nobody of them the requester. Groups that nobody asks keep their real votes.
 */
export function factsOnceGiven(real: ApprovalFacts, asks: readonly Ask[]): ApprovalFacts {
  const given = asks.map(
    (ask) => [ask.group, { count: largestQuorum(asks, ask.group), includesRequester: false }] as const,
  );
  return Object.fromEntries([...Object.entries(real), ...given]);
}

/**
 * One rule per group with the largest quorum asked of it, binding the requester out where any asking policy does; the shortest of
 * the times. Groups are in the order of their names, so equal questions are equal texts.
 */
export function joinAsks(asks: readonly Ask[], risk: Risk, defaults: ObligationDefaults): Obligations {
  const groups = [...new Set(asks.map((ask) => ask.group))].toSorted();
  return {
    rules: groups.map((group) => joinedRule(group, asks, risk)),
    decideWithinMs: Math.min(...asks.map((ask) => ask.decideWithinMs ?? defaults.decideWithinMs)),
    executionWindowMs: Math.min(...asks.map((ask) => ask.executionWindowMs ?? defaults.executionWindowMs)),
  };
}

function joinedRule(group: string, asks: readonly Ask[], risk: Risk): AskedRule {
  return {
    group,
    count: largestQuorum(asks, group),
    notRequester: asks.some((ask) => ask.group === group && (ask.notRequester ?? barsRequester(risk))),
    ...earliestEscalation(asks.filter((ask) => ask.group === group)),
  };
}

/** One wider group per rule, the one that would be asked first; of two at once the first by name. */
function earliestEscalation(asks: readonly Ask[]): Pick<AskedRule, 'escalation'> {
  const [first] = asks
    .flatMap(({ escalation }) => (escalation === undefined ? [] : [escalation]))
    .toSorted((a, b) => a.afterMs - b.afterMs || (a.group < b.group ? -1 : 1));
  return first === undefined ? {} : { escalation: first };
}

function largestQuorum(asks: readonly Ask[], group: string): number {
  return Math.max(...asks.filter((ask) => ask.group === group).map((ask) => ask.quorum));
}

/** Decision 8: about risk high and critical one person other than the requester decides, unless the policy says otherwise. */
function barsRequester(risk: Risk): boolean {
  return risk === 'high' || risk === 'critical';
}
