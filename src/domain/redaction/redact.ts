import { createHash } from 'node:crypto';
import { canonicalJson } from '../json/canonical-json.js';
import { replaceAt } from '../json/json-pointer.js';
import type { JsonObject, JsonValue } from '../json/json-value.js';

const SHOWN_DIGITS = 8;

/** What stands for a masked value: enough to see that two are equal, nothing to read it from. */
export function mask(value: JsonValue): string {
  const digest = createHash('sha256').update(canonicalJson(value)).digest('hex');
  return `[redacted:${digest.slice(0, SHOWN_DIGITS)}]`;
}

/** The value with everything the pointers name masked; pointers that name nothing change nothing. */
export function redactValue(value: JsonObject, pointers: readonly string[]): JsonObject {
  return pointers.length === 0 ? value : (replaceAt(value, pointers, mask) as JsonObject);
}
