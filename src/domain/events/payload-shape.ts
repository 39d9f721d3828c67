import type { JsonValue } from '../json/json-value.js';

/**
 * The shape of an event payload in one readable line per field. A trailing `?` marks an optional field (absent or
 * null); an array of words is an enumeration. The writer checks each payload against its shape before it is sealed,
 * so a payload that does not fit can never become a fact.
 */
export type FieldKind =
  | 'text'
  | 'text?'
  | 'integer'
  | 'integer?'
  | 'boolean'
  | 'boolean?'
  | 'object'
  | 'object?'
  | 'list'
  | 'list?'
  | 'json'
  | readonly string[];

export type PayloadShape = Readonly<Record<string, FieldKind>>;

type FieldValue<K extends FieldKind> = K extends readonly string[]
  ? K[number]
  : K extends 'text'
    ? string
    : K extends 'text?'
      ? string | null
      : K extends 'integer'
        ? number
        : K extends 'integer?'
          ? number | null
          : K extends 'boolean'
            ? boolean
            : K extends 'boolean?'
              ? boolean | null
              : K extends 'object'
                ? { readonly [key: string]: JsonValue }
                : K extends 'object?'
                  ? { readonly [key: string]: JsonValue } | null
                  : K extends 'list'
                    ? readonly JsonValue[]
                    : K extends 'list?'
                      ? readonly JsonValue[] | null
                      : JsonValue;

type Optional<S extends PayloadShape> = { [K in keyof S]: S[K] extends `${string}?` ? K : never }[keyof S];

/** The TypeScript type of a payload: optional fields may be left out or null. */
export type PayloadOf<S extends PayloadShape> = {
  readonly [K in Exclude<keyof S, Optional<S>>]: FieldValue<S[K]>;
} & { readonly [K in Optional<S>]?: FieldValue<S[K]> };

/** Names the first field that does not fit, or null. Values are never part of the answer. */
export function payloadProblem(shape: PayloadShape, payload: Readonly<Record<string, unknown>>): string | null {
  for (const name of Object.keys(payload)) {
    if (!Object.hasOwn(shape, name)) return `unknown field ${name}`;
  }
  for (const [name, kind] of Object.entries(shape)) {
    if (!fits(kind, payload[name]))
      return `field ${name} is not ${typeof kind === 'string' ? kind : 'one of its words'}`;
  }
  return null;
}

function fits(kind: FieldKind, value: unknown): boolean {
  if (typeof kind !== 'string') return typeof value === 'string' && kind.includes(value);
  if (kind.endsWith('?') && (value === undefined || value === null)) return true;
  switch (kind) {
    case 'text':
    case 'text?':
      return typeof value === 'string';
    case 'integer':
    case 'integer?':
      return Number.isSafeInteger(value);
    case 'boolean':
    case 'boolean?':
      return typeof value === 'boolean';
    case 'object':
    case 'object?':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'list':
    case 'list?':
      return Array.isArray(value);
    case 'json':
      return value !== undefined;
  }
}
