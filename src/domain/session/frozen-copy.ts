import type { JsonObject, JsonValue } from '../json/json-value.js';
import { pointerFrom } from '../json/json-pointer.js';
import { isWellFormed } from '../text/well-formed.js';

/** Deeper nesting is refused: it is a value that refers to itself, or one that no reader would take. */
const DEPTH_MAX = 128;

export type PlainCopy =
  | {
      readonly ok: true;
      /** A deeply frozen copy: whatever becomes of the original, this stays. */
      readonly value: JsonObject;
      /** UTF-16 units of its texts and keys, and a few for everything else: about its bytes, never much below a third of them. */
      readonly units: number;
    }
  | { readonly ok: false; readonly problem: string; readonly pointer: string };

/** One walk that checks, copies and freezes. Properties that are `undefined` are left out, as JSON text leaves them out. */
export function plainCopyOf(payload: object): PlainCopy {
  const walk: Walk = { units: 0, problem: null, path: [] };
  const value = copied(payload, walk, 0) as JsonObject;
  if (walk.problem === null) return { ok: true, value, units: walk.units };
  return { ok: false, problem: walk.problem, pointer: pointerFrom(walk.path.toReversed()) };
}

/** `path` is filled from the inside out, and only once there is a problem. */
interface Walk {
  units: number;
  problem: string | null;
  readonly path: (string | number)[];
}

function copied(value: unknown, walk: Walk, depth: number): JsonValue {
  switch (typeof value) {
    case 'string':
      walk.units += value.length + 2;
      return isWellFormed(value) ? value : refused(walk, 'holds half a surrogate pair');
    case 'number':
      walk.units += 8;
      return Number.isFinite(value) ? value : refused(walk, 'is no finite number');
    case 'boolean':
      walk.units += 5;
      return value;
    case 'object':
      if (value === null) {
        walk.units += 4;
        return null;
      }
      if (depth >= DEPTH_MAX) return refused(walk, 'is nested too deeply, or refers to itself');
      return Array.isArray(value) ? copiedItems(value, walk, depth) : copiedMembers(value, walk, depth);
    case 'bigint':
      return refused(walk, 'is a bigint');
    case 'function':
      return refused(walk, 'is a function');
    case 'symbol':
      return refused(walk, 'is a symbol');
    case 'undefined':
      return refused(walk, 'is undefined');
  }
}

function copiedItems(items: readonly unknown[], walk: Walk, depth: number): JsonValue {
  const copy: JsonValue[] = [];
  walk.units += 2 + items.length;
  for (let index = 0; index < items.length; index += 1) {
    copy.push(copied(items[index], walk, depth + 1));
    if (walk.problem !== null) {
      walk.path.push(index);
      return null;
    }
  }
  return Object.freeze(copy);
}

function copiedMembers(object: object, walk: Walk, depth: number): JsonValue {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) return refused(walk, 'is an instance of a class');
  if (Object.getOwnPropertySymbols(object).length > 0) return refused(walk, 'has a symbol as a key');
  const copy: Record<string, JsonValue> = {};
  for (const key of Object.keys(object)) {
    const member = (object as Record<string, unknown>)[key];
    if (member === undefined) continue;
    walk.units += key.length + 4;
    const value = isWellFormed(key)
      ? copied(member, walk, depth + 1)
      : refused(walk, 'has half a surrogate pair as a key');
    if (walk.problem !== null) {
      walk.path.push(key);
      return null;
    }
    // an assignment to this one key would set the prototype instead
    if (key === '__proto__') Object.defineProperty(copy, key, { value, enumerable: true });
    else copy[key] = value;
  }
  return Object.freeze(copy);
}

function refused(walk: Walk, problem: string): null {
  walk.problem = problem;
  return null;
}
