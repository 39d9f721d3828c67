import { jsonDigest } from '../../domain/digests/digests.js';
import { valueAt } from '../../domain/json/json-pointer.js';
import type { JsonObject, JsonValue } from '../../domain/json/json-value.js';

export type Scalar = string | number | boolean | null;

/** A fixed value, or what the call's own argument says. */
export type Operand = Scalar | { readonly argument: string };

/** What a value must be; everything that is named must be so. Numbers are compared as numbers, and only with numbers. */
export interface Expectation {
  readonly equals?: Operand | undefined;
  readonly oneOf?: readonly Operand[] | undefined;
  readonly atLeast?: Operand | undefined;
  readonly atMost?: Operand | undefined;
}

/** What must be true of one value of the world; a manifest's precondition has this shape. */
export interface PreconditionRule {
  /** Lower-case word, unique in its manifest. */
  readonly name: string;
  /** For people: what must be so. */
  readonly title: string;
  /** Null: whatever it is, it must stay so. */
  readonly expect: Expectation | null;
  /** True: what an approver was shown must still be so when it counts. */
  readonly unchanged: boolean;
  /** What it means that the tool shows no such value: it does not hold, or it is the value `null`. */
  readonly absent: 'fails' | 'is_a_value';
}

/** One value as it was read. The value itself stays out of it unless it may be shown. */
export interface Reading {
  readonly name: string;
  readonly title: string;
  /** Over the value, so that two readings can be compared without keeping either. */
  readonly digest: string;
  readonly holds: boolean;
  readonly isAbsent: boolean;
  /** ISO 8601. */
  readonly observedAt: string;
  /** The value where it is short and no secret, as it may be shown; left out otherwise. */
  readonly shown?: Scalar;
}

/** In the order of the manifest, one for each precondition. */
export type Readings = readonly Reading[];

/** Texts longer than this are compared and not shown. */
export const SHOWN_CHARACTERS_MAX = 120;

/** What a value that was read (undefined: there was none) says about its rule. */
export function judgeValue(
  rule: PreconditionRule,
  found: JsonValue | undefined,
  args: JsonObject,
): Pick<Reading, 'digest' | 'holds' | 'isAbsent'> {
  const isAbsent = found === undefined;
  const value = found ?? null;
  const counts = !isAbsent || rule.absent === 'is_a_value';
  return { digest: jsonDigest(value), holds: counts && meets(value, rule.expect, args), isAbsent };
}

function meets(value: JsonValue, expect: Expectation | null, args: JsonObject): boolean {
  if (expect === null) return true;
  const { equals, oneOf, atLeast, atMost } = expect;
  const is = (operand: Operand): boolean => {
    const wanted = valueOf(operand, args);
    return wanted !== undefined && wanted === value;
  };
  return (
    (equals === undefined || is(equals)) &&
    (oneOf === undefined || oneOf.some(is)) &&
    (atLeast === undefined || isOrdered(valueOf(atLeast, args), value)) &&
    (atMost === undefined || isOrdered(value, valueOf(atMost, args)))
  );
}

/** Undefined when the argument is absent: nothing equals it. */
function valueOf(operand: Operand, args: JsonObject): JsonValue | undefined {
  return typeof operand === 'object' && operand !== null ? valueAt(args, operand.argument) : operand;
}

const isOrdered = (low: JsonValue | undefined, high: JsonValue | undefined): boolean =>
  typeof low === 'number' && typeof high === 'number' && low <= high;

/** What is kept of readings beside a question and an attempt: proof, and no value. */
export function snapshotOf(readings: Readings): JsonObject[] {
  return readings.map(({ name, digest, holds, observedAt }) => ({ name, digest, holds, observedAt }));
}

/** Name → digest of a recorded snapshot; null where there is none or it cannot be read. */
export function digestsIn(snapshot: JsonValue | undefined): ReadonlyMap<string, string> | null {
  if (!Array.isArray(snapshot)) return null;
  const digests = new Map<string, string>();
  for (const entry of snapshot as readonly JsonObject[]) {
    const { name, digest } = entry;
    if (typeof name !== 'string' || typeof digest !== 'string') return null;
    digests.set(name, digest);
  }
  return digests;
}

export const failing = (readings: Readings): Readings => readings.filter(({ holds }) => !holds);

/**
 * The preconditions that are not as people were shown: one that must stay so and reads otherwise, or one that does not
 * hold any more. Without a snapshot nothing is as it was shown.
 */
export function changedSince(
  rules: readonly PreconditionRule[],
  readings: Readings,
  shown: ReadonlyMap<string, string> | null,
): Readings {
  const mustStay = new Set(rules.filter(({ unchanged }) => unchanged).map(({ name }) => name));
  return readings.filter(
    ({ name, digest, holds }) => !holds || shown === null || (mustStay.has(name) && shown.get(name) !== digest),
  );
}

/** For people and the model: what does not hold. Never the value. */
export function reasonsOf(readings: Readings): string[] {
  return readings.map(
    ({ title, isAbsent }) => `precondition failed: ${title}${isAbsent ? ' (there is no value)' : ''}`,
  );
}
