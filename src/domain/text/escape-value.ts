import type { JsonObject, JsonValue } from '../json/json-value.js';
import { escapeForDisplay } from './escape-text.js';

/** Every text of a value, keys included, with what cannot be seen made visible. */
export function escapeValue(value: JsonValue): JsonValue {
  if (typeof value === 'string') return escapeForDisplay(value);
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(escapeValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([key, inner]) => [escapeForDisplay(key), escapeValue(inner)]),
  );
}
