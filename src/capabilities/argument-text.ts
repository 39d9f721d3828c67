import type { JsonObject, JsonValue } from '../domain/json/json-value.js';
import { isJsonObject } from '../domain/json/json-value.js';
import type { Placeholder } from './template-text.js';

export type ArgumentPlaceholder = Placeholder & { readonly kind: 'argument' };

/** The value of `{args.outer.inner}`, undefined when it or anything around it is absent. */
export function argumentValue(args: JsonObject, { path }: ArgumentPlaceholder): JsonValue | undefined {
  let value: JsonValue | undefined = args;
  for (const name of path) value = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return value;
}

/** The one text of a text, number or boolean. */
export function scalarText(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new Error('an argument without a text stands where a manifest in force allows only text, numbers and booleans');
}

/** The text of an argument that registration has proven to be present and to have one. Throws a plain `Error` otherwise. */
export function argumentText(args: JsonObject, placeholder: ArgumentPlaceholder): string {
  return scalarText(argumentValue(args, placeholder));
}
