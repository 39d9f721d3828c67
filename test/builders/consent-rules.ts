/** What a policy may know of a call's consent; people of each group. */
export interface KnownFacts {
  readonly finance: number;
  readonly board: number;
  readonly breakGlass: boolean;
  readonly suspended: boolean;
}

type Group = 'finance' | 'board';

export interface RuledAnswer {
  readonly outcome: 'allow' | 'deny' | 'requires_confirmation';
  /** Groups whose consent is wanting. */
  readonly missing: readonly Group[];
}

const NEEDS: readonly (readonly Group[] | 'never')[] = ['never', ['finance'], ['finance', 'board'], []];

/** A small policy: what an amount needs moves on with every set, named by the number at the end of its revision. */
export function answerOf(revision: string, amount: number, facts: KnownFacts): RuledAnswer {
  const sets = Number(/\d+$/.exec(revision)?.[0] ?? '0');
  const needs = NEEDS[(amount + sets) % NEEDS.length] ?? 'never';
  if (needs === 'never' || facts.suspended) return { outcome: 'deny', missing: [] };
  const missing = needs.filter((group) => facts[group] < 1);
  if (missing.length === 0 || facts.breakGlass) return { outcome: 'allow', missing: [] };
  return { outcome: 'requires_confirmation', missing };
}
