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

/** Every text and number below the places the pointers name, as text: what must not be seen anywhere else either. */
export function textsAt(value: JsonObject, pointers: readonly string[]): readonly string[] {
  const texts: string[] = [];
  if (pointers.length > 0) {
    replaceAt(value, pointers, (found) => {
      collectTexts(found, texts);
      return found;
    });
  }
  return texts;
}

function collectTexts(value: JsonValue, into: string[]): void {
  if (typeof value === 'string') into.push(value);
  else if (typeof value === 'number') into.push(String(value));
  else if (typeof value === 'object' && value !== null)
    for (const inner of Object.values(value)) collectTexts(inner as JsonValue, into);
}
