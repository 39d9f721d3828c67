import type { Capability } from '../../capabilities/manifest.js';
import { millisOf } from '../../domain/events/instant.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import { canonicalRequest } from '../core/canonical-request.js';
import { overBudget } from '../core/decide.js';
import { counterOfKey } from '../core/limits.js';
import { localTime } from '../core/local-time.js';
import type { AskedRule, PolicyDecision, PolicyRequest } from '../core/policy-types.js';
import { factsOf, type GoldenCase } from './golden-case.js';

/** What a case asks in the place of a clock, unless it says `at`. */
const NOON = '2031-01-01T12:00:00.000Z';

export interface Mismatch {
  readonly what: string;
  readonly expected: unknown;
  readonly got: unknown;
}

/** Who evaluates: the set under test. */
export type Ask = (request: ReturnType<typeof canonicalRequest>) => Promise<PolicyDecision>;

/** Asks one case and says everything that is not as it expects; empty when it passes. `timeZone` is that of the settings. */
export async function runCase(
  golden: GoldenCase,
  capability: Capability | undefined,
  ask: Ask,
  timeZone?: string,
): Promise<Mismatch[]> {
  if (capability === undefined) {
    return [{ what: 'capability', expected: golden.capability, got: 'no capability of this name is in force' }];
  }
  const effective = capability.input.effectiveArguments(golden.request.input as JsonObject);
  if (!effective.ok) {
    const got = effective.problems.map(({ pointer, message }) => `${pointer}: ${message}`).join('; ');
    return [{ what: 'input', expected: 'arguments that fit the input schema', got }];
  }
  const request = requestOf(golden, capability, effective.arguments, timeZone);
  return mismatches(golden.expect, withinBudgets(await ask(canonicalRequest(request)), request));
}

/** What the counters of the unit would say: a budget that the call does not fit into denies. */
function withinBudgets(decision: PolicyDecision, { counters = {} }: PolicyRequest): PolicyDecision {
  const full = decision.reservations?.find(
    ({ key, add, max }) => (counters[counterOfKey(key).counter] ?? 0) + add > max,
  );
  return full === undefined ? decision : overBudget(decision, full.key);
}

/** The request as the server would make it: what a case leaves out is what the server says of an ordinary call. */
export function requestOf(
  { request }: GoldenCase,
  { manifest }: Capability,
  input: JsonObject,
  timeZone?: string,
): PolicyRequest {
  const { sub, act, tenant = 'acme', roles = ['harness'], approvals = {}, at = NOON } = request;
  const votes = Object.entries(approvals).map(
    ([group, { count, includesRequester = false }]) => [group, { count, includesRequester }] as const,
  );
  return {
    tenant,
    sub,
    ...(act === undefined ? {} : { act }),
    roles,
    capability: manifest.name,
    capabilityVersion: manifest.version,
    risk: manifest.risk,
    effect: manifest.effect,
    input,
    approvals: Object.fromEntries(votes),
    attempt: request.attempt ?? 1,
    reasoningPresent: request.reasoningPresent ?? false,
    allowDuplicateIntent: request.allowDuplicateIntent ?? false,
    nowMs: millisOf(at),
    ...(timeZone === undefined ? {} : { time: localTime(timeZone, millisOf(at)) }),
    ...factsOf(request),
  };
}

function mismatches(expect: GoldenCase['expect'], got: PolicyDecision): Mismatch[] {
  const rules = got.obligations?.rules ?? [];
  const rule = expect.group === undefined ? rules[0] : rules.find(({ group }) => group === expect.group);
  const checks: readonly (readonly [string, unknown, unknown])[] = [
    ['outcome', expect.outcome, got.outcome],
    ['denyCode', expect.denyCode, got.denyCode],
    ['reasons', expect.reasons, got.reasons],
    ['determining', expect.determining?.toSorted(), got.determining],
    ['group', expect.group, rule?.group ?? null],
    ['quorum', sorted(expect.quorum), typeof expect.quorum === 'object' ? quorums(rules) : (rule?.count ?? null)],
    ['escalation', expect.escalation && [expect.escalation.group, expect.escalation.afterSeconds], escalationOf(rule)],
    ['limits', expect.limits && limitList(Object.entries(expect.limits)), limitsOf(got)],
  ];
  const wrong = checks
    .filter(([, wanted, found]) => wanted !== undefined && JSON.stringify(wanted) !== JSON.stringify(found))
    .map(([what, expected, found]) => ({ what, expected, got: found }));
  if (typeof expect.quorum === 'number' && expect.group === undefined && rules.length > 1) {
    wrong.push({ what: 'group', expected: 'named, since several are asked', got: rules.map(({ group }) => group) });
  }
  // An engine that fails denies: a case that expects a denial must not pass for that.
  if (got.engineErrors.length > 0 && expect.denyCode !== 'engine_error') {
    wrong.push({ what: 'engineErrors', expected: [], got: [...got.engineErrors] });
  }
  return wrong;
}

/** In the order of the names, so that equal ones are equal texts. */
function sorted(quorum: GoldenCase['expect']['quorum']): unknown {
  return typeof quorum === 'object' ? Object.fromEntries(Object.entries(quorum).toSorted(byName)) : quorum;
}

const quorums = (rules: readonly AskedRule[]): unknown =>
  Object.fromEntries(rules.map(({ group, count }) => [group, count] as const).toSorted(byName));

const escalationOf = (rule: AskedRule | undefined): unknown =>
  rule?.escalation === undefined ? null : [rule.escalation.group, rule.escalation.afterMs / 1000];

const limitsOf = ({ reservations = [] }: PolicyDecision): unknown =>
  limitList(reservations.map(({ key, add, max }) => [counterOfKey(key).counter, { add, max }]));

const limitList = (limits: readonly (readonly [string, { add: number; max: number }])[]): unknown =>
  limits.toSorted(byName).map(([counter, { add, max }]) => `${counter}: ${add} of ${max}`);

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);
