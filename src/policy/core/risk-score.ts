import type { Effect, Risk } from '../../domain/tool-call/tool-call.state.js';
import type { RiskInputs } from './facts.js';

export const RISK_SCORE_MAX = 1000;

const BY_RISK: Readonly<Record<Risk, number>> = { low: 100, medium: 300, high: 500, critical: 700 };

/** How hard it is to find out, or to take back, what a lost answer left behind. */
const BY_EFFECT: Readonly<Record<Effect, number>> = {
  read_only: 0,
  idempotent: 25,
  replay_by_key: 50,
  probeable: 50,
  opaque: 150,
};

const FIRST_USE = 100;
const DUPLICATE_INTENT = 50;
const PER_DENIAL_BY_PEOPLE = 100;
const PER_DENIAL_BY_POLICY = 25;
const DENIALS_BY_PEOPLE_MAX = 3;
const DENIALS_BY_POLICY_MAX = 4;

/**
 * A number from 0 to 1000 for `context.riskScore`: the risk the manifest states (100, 300, 500, 700), its effect (0, 25, 50, 50, 150),
 * 100 for a principal that never used the capability, 50 for an intent beside an equal one, 100 for each of at most three denials of
 * the same intent by people, 25 for each of at most four by policy. It depends on nothing else, so a recorded one can be computed again.
 */
export function riskScore(
  request: { readonly risk: Risk; readonly effect: string; readonly allowDuplicateIntent: boolean },
  { denials, firstUse }: RiskInputs,
): number {
  const sum =
    BY_RISK[request.risk] +
    (BY_EFFECT[request.effect as Effect] ?? BY_EFFECT.opaque) +
    (firstUse ? FIRST_USE : 0) +
    (request.allowDuplicateIntent ? DUPLICATE_INTENT : 0) +
    PER_DENIAL_BY_PEOPLE * Math.min(denials.byPeople, DENIALS_BY_PEOPLE_MAX) +
    PER_DENIAL_BY_POLICY * Math.min(denials.byPolicy, DENIALS_BY_POLICY_MAX);
  return Math.min(sum, RISK_SCORE_MAX);
}
