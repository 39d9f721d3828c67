import type { JsonObject, JsonValue } from '../domain/json/json-value.js';

/** Whether a text holds a credential of this installation. */
export type SecretTest = (text: string) => boolean;

/** Whether a payload holds a credential anywhere, names of fields included: such an event is never taken. */
export function holdsSecret(isSecret: SecretTest, payload: JsonObject): boolean {
  return holds(isSecret, payload);
}

function holds(isSecret: SecretTest, value: JsonValue): boolean {
  if (typeof value === 'string') return isSecret(value);
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some((item: JsonValue) => holds(isSecret, item));
  return Object.entries(value).some(([name, inner]) => isSecret(name) || holds(isSecret, inner as JsonValue));
}
