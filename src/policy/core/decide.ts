import type { Ask, PolicyAnnotations } from './annotations.js';
import { joinLeaseTerms } from './lease-terms.js';
import type { ApprovalFacts, ObligationDefaults } from './obligations.js';
import { factsOnceGiven, joinAsks } from './obligations.js';
import { budgetReasons, reservationsFor } from './limits.js';
import type { PolicyDecision, PolicyRequest } from './policy-types.js';

/** What a two-valued engine said of one evaluation. `errors` are code words and policy ids, never values of the request. */
export type EngineAnswer =
  | { readonly kind: 'allow' | 'deny'; readonly determining: readonly string[] }
  | { readonly kind: 'failed'; readonly errors: readonly string[] };

/** A decision before it is stamped with what made it: the policy set, the schema, the engine and the request. */
export type Verdict = Omit<PolicyDecision, 'policyRevision' | 'schemaDigest' | 'engineVersion' | 'requestDigest'>;

/** Hypothetical evaluations after the real one. More than this means policies that keep asking for more. */
export const ROUNDS_MAX = 8;

type Lookup = ReadonlyMap<string, PolicyAnnotations>;

/** One evaluation, read with the annotations of the policies that determined it. */
type Reading =
  | { readonly kind: 'failed'; readonly errors: readonly string[] }
  | { readonly kind: 'allow' | 'hard' | 'liftable'; readonly policies: readonly PolicyAnnotations[] }
  | { readonly kind: 'no_permit' };

const IMPOSSIBLE = { kind: 'failed', errors: ['impossible_answer'] } as const;

/**
 * Three answers from a two-valued engine (policy.md, "Three answers"). First the real approval facts; when only forbids
 * that people can lift stand in the way, exactly what they ask for is added to hypothetical facts and evaluated again, at
 * most `ROUNDS_MAX` times. People are asked only when their yes would be enough: a final forbid, a missing permit, an error or a
 * forbid that its own approvals do not lift is a denial.
 *
 * `evaluate` is called synchronously with approval facts and may throw; anything but an understood answer denies with `engine_error`.
 */
export function decide(
  request: PolicyRequest,
  evaluate: (approvals: ApprovalFacts) => EngineAnswer,
  annotations: Lookup,
  defaults: ObligationDefaults,
): Verdict {
  const asking = new Map<string, PolicyAnnotations>();
  const asks = (): Ask[] => [...asking.values()].flatMap(({ ask }) => (ask === null ? [] : [ask]));
  let stuck: readonly PolicyAnnotations[] = [];
  for (let round = 0; round <= ROUNDS_MAX; round += 1) {
    const reading = read(evaluate, factsOnceGiven(request.approvals, asks()), annotations);
    switch (reading.kind) {
      case 'failed':
        return engineErrorVerdict(reading.errors);
      case 'allow':
        return withinLimits(
          round === 0
            ? allowed(reading.policies)
            : mustAsk([...asking.values()], joinAsks(asks(), request.risk, defaults)),
          reading.policies,
          request,
        );
      case 'no_permit':
        return denied('no_permit', [], []);
      case 'hard':
        return denied(
          'forbidden',
          reading.policies,
          reading.policies.filter(({ ask }) => ask === null),
        );
      case 'liftable': {
        stuck = reading.policies;
        const before = asking.size;
        for (const policy of reading.policies) asking.set(policy.id, policy);
        if (asking.size === before) return denied('forbidden', stuck, stuck);
      }
    }
  }
  return denied('forbidden', stuck, stuck);
}

/** The denial that every failure ends in. */
export function engineErrorVerdict(errors: readonly string[]): Verdict {
  return {
    outcome: 'deny',
    reasons: ['engine_error'],
    denyCode: 'engine_error',
    determining: [],
    obligations: null,
    engineErrors: errors,
  };
}

/** An allow must come from permits and a denial from forbids; an engine that says otherwise is broken. */
function read(
  evaluate: (approvals: ApprovalFacts) => EngineAnswer,
  facts: ApprovalFacts,
  annotations: Lookup,
): Reading {
  const answer = attempt(evaluate, facts);
  if (answer.kind === 'failed') return answer;
  const policies = answer.determining.map((id) => annotations.get(id)).filter((policy) => policy !== undefined);
  if (policies.length < answer.determining.length) return { kind: 'failed', errors: ['unknown_determining_policy'] };
  const effect = answer.kind === 'allow' ? 'permit' : 'forbid';
  const believable = policies.every((policy) => policy.effect === effect);
  if (!believable || (effect === 'permit' && policies.length === 0)) return IMPOSSIBLE;
  if (effect === 'permit') return { kind: 'allow', policies };
  if (policies.length === 0) return { kind: 'no_permit' };
  return { kind: policies.every(({ ask }) => ask !== null) ? 'liftable' : 'hard', policies };
}

/** The types promise an answer; a broken engine keeps no promises. */
function attempt(evaluate: (approvals: ApprovalFacts) => EngineAnswer, facts: ApprovalFacts): EngineAnswer {
  try {
    const answer = evaluate(facts) as Partial<Record<'kind' | 'determining' | 'errors', unknown>> | null | undefined;
    const detail = answer?.kind === 'failed' ? answer.errors : answer?.determining;
    const understood = ['allow', 'deny', 'failed'].includes(answer?.kind as string) && Array.isArray(detail);
    return understood ? (answer as EngineAnswer) : IMPOSSIBLE;
  } catch {
    return { kind: 'failed', errors: ['engine_threw'] };
  }
}

function allowed(permits: readonly PolicyAnnotations[]): Verdict {
  return {
    outcome: 'allow',
    reasons: reasonsOf(permits, 'allow'),
    denyCode: null,
    determining: idsOf(permits),
    obligations: null,
    engineErrors: [],
    ...leaseOf(permits),
  };
}

function leaseOf(permits: readonly PolicyAnnotations[]): Pick<Verdict, 'lease'> {
  const terms = permits.flatMap(({ lease }) => (lease === null ? [] : [lease]));
  return terms.length === 0 ? {} : { lease: joinLeaseTerms(terms) };
}

function mustAsk(asking: readonly PolicyAnnotations[], obligations: Verdict['obligations']): Verdict {
  return {
    outcome: 'requires_confirmation',
    reasons: reasonsOf(asking, 'requires_confirmation'),
    denyCode: null,
    determining: idsOf(asking),
    obligations,
    engineErrors: [],
  };
}

function denied(
  denyCode: 'no_permit' | 'forbidden',
  determining: readonly PolicyAnnotations[],
  because: readonly PolicyAnnotations[],
): Verdict {
  return {
    outcome: 'deny',
    reasons: reasonsOf(because, denyCode),
    denyCode,
    determining: idsOf(determining),
    obligations: null,
    engineErrors: [],
  };
}

/** What the permits of the (real or hypothetical) allow limit is taken of their budgets, or the call is denied. */
function withinLimits(verdict: Verdict, permits: readonly PolicyAnnotations[], request: PolicyRequest): Verdict {
  const limits = permits.flatMap((permit) => permit.limits);
  if (limits.length === 0) return verdict;
  const reservations = reservationsFor(limits, request);
  return reservations === null ? overBudget(verdict, null) : { ...verdict, reservations };
}

/** The denial for a budget that is used up; `key` of its counter, null where an amount cannot be counted at all. */
export function overBudget<T extends Verdict>(verdict: T, key: string | null): T {
  const { reservations: _, lease: __, ...rest } = verdict;
  const denial = {
    outcome: 'deny',
    denyCode: 'budget_exceeded',
    obligations: null,
    reasons: budgetReasons(key),
  } as const;
  return { ...(rest as T), ...denial, ...(key === null ? {} : { exceeded: key }) };
}

/** Sorted: an engine names determining policies in no particular order, and equal decisions must be equal texts. */
function idsOf(policies: readonly PolicyAnnotations[]): string[] {
  return policies.map(({ id }) => id).toSorted();
}

function reasonsOf(policies: readonly PolicyAnnotations[], codeWord: string): string[] {
  const inOrder = policies.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const texts = new Set(inOrder.flatMap(({ reason }) => (reason === null ? [] : [reason])));
  return texts.size === 0 ? [codeWord] : [...texts];
}
