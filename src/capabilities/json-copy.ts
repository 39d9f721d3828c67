import { pointerFrom } from '../domain/json/json-pointer.js';
import type { JsonObject, JsonValue } from '../domain/json/json-value.js';
import { JSON_DEPTH_CEILING } from '../domain/json/strict-json.js';
import { plainPointer } from './argument-problem.js';
import type { ArgumentProblem } from './argument-problem.js';

/** The keys the strict reader refuses too: arguments may also come from elsewhere than JSON text. */
const RESERVED_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

export type JsonCopy =
  { readonly ok: true; readonly value: JsonValue } | { readonly ok: false; readonly problem: ArgumentProblem };

class Refused extends Error {
  constructor(readonly problem: ArgumentProblem) {
    super(problem.message);
  }
}

/** A deep copy in ordinary objects and arrays of its own; minus zero becomes zero. Refuses reserved keys and depth beyond the strict reader's. */
export function copyJson(value: JsonValue): JsonCopy {
  try {
    return { ok: true, value: copied(value, []) };
  } catch (error) {
    if (error instanceof Refused) return { ok: false, problem: error.problem };
    throw error;
  }
}

function copied(value: JsonValue, path: readonly (string | number)[]): JsonValue {
  if (typeof value === 'number') return value === 0 ? 0 : value;
  if (typeof value !== 'object' || value === null) return value;
  if (path.length >= JSON_DEPTH_CEILING) throw new Refused({ pointer: '', message: 'is nested too deep' });
  if (Array.isArray(value)) {
    return (value as readonly JsonValue[]).map((item, index) => copied(item, [...path, index]));
  }
  const copy: Record<string, JsonValue> = {};
  for (const [key, child] of Object.entries(value)) {
    const here = [...path, key];
    if (RESERVED_KEYS.has(key)) {
      throw new Refused({ pointer: plainPointer(pointerFrom(here)), message: 'this name is reserved' });
    }
    copy[key] = copied(child, here);
  }
  return copy;
}

/** Freezes the value and everything in it. Expects a tree: nothing in it is looked at twice. */
export function deepFrozen<V extends JsonValue>(value: V): V {
  if (typeof value === 'object' && value !== null) {
    for (const child of Object.values(value as JsonObject)) deepFrozen(child);
    Object.freeze(value);
  }
  return value;
}
