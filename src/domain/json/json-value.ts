/**
 * Any value that JSON text can hold (RFC 8259 section 3). Read-only, because a value that was judged must be the value
 * that runs. At run time objects are ordinary objects with own enumerable data properties; nothing here is ever a class
 * instance.
 */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** True for `{…}`, false for arrays, null and scalars. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Deep equality of two JSON values. The order of keys does not count, the order of items does; `-0` equals `0`, because
 * JSON text has one zero for us. Strings are compared by code unit: U+00E9 and U+0065 U+0301 are different texts.
 */
export function jsonEquals(left: JsonValue, right: JsonValue): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  const leftIsArray = Array.isArray(left);
  if (leftIsArray !== Array.isArray(right)) return false;
  return leftIsArray
    ? arraysEqual(left as readonly JsonValue[], right as readonly JsonValue[])
    : objectsEqual(left as JsonObject, right as JsonObject);
}

function arraysEqual(left: readonly JsonValue[], right: readonly JsonValue[]): boolean {
  return left.length === right.length && left.every((item, index) => jsonEquals(item, right[index] as JsonValue));
}

function objectsEqual(left: JsonObject, right: JsonObject): boolean {
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && jsonEquals(left[key] as JsonValue, right[key] as JsonValue));
}
