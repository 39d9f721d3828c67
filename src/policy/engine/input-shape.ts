import { pointerFrom, valueAt } from '../../domain/json/json-pointer.js';
import type { JsonObject, JsonValue } from '../../domain/json/json-value.js';
import { isJsonObject } from '../../domain/json/json-value.js';

/** What policies may read of an argument: the part of a JSON Schema that Cedar can type. */
export type InputShape =
  | { readonly kind: 'string' | 'integer' | 'boolean' }
  | { readonly kind: 'set'; readonly element: InputShape }
  | RecordShape;

export interface RecordShape {
  readonly kind: 'record';
  readonly members: Readonly<Record<string, { readonly shape: InputShape; readonly required: boolean }>>;
}

export interface ShapeRead {
  readonly shape: RecordShape;
  /** JSON pointers into the arguments of what policies cannot see; `*` stands for every item or every other key. */
  readonly unreadable: readonly string[];
}

/** Far from the nesting that costs Cedar its stack; arguments nested deeper are not read by policies. */
const DEPTH_MAX = 8;

interface Walk {
  readonly root: JsonObject;
  readonly unreadable: string[];
}

interface Place {
  readonly path: readonly string[];
  /** `$ref`s being followed, so a recursive schema ends. */
  readonly refs: readonly string[];
}

/**
 * Reads the shape of a capability's arguments from its input schema (JSON Schema 2020-12).
 *
 * Only what the schema *asserts* is typed: a `type` (or `const`, `enum`) at the place itself. Fractions (`number`), null, unions,
 * tuples, open maps, keys that begin with `__` (Cedar's escapes) and everything without a type are left out of the shape, and so of
 * what is sent to the engine, and listed: nothing reaches a policy untyped. Arrays become sets: their order and repeats are
 * not seen by policies.
 */
export function readInputShape(inputSchema: JsonObject): ShapeRead {
  const walk: Walk = { root: inputSchema, unreadable: [] };
  const shape = readRecord(walk, inputSchema, { path: [], refs: [] });
  return { shape, unreadable: walk.unreadable };
}

/** Null when Cedar cannot type the place; it has then been listed. */
function readShape(walk: Walk, schema: JsonValue, place: Place): InputShape | null {
  const readable = isJsonObject(schema) && place.path.length <= DEPTH_MAX && !Object.hasOwn(schema, '$id');
  if (!readable) return leaveOut(walk, place);
  if (Object.hasOwn(schema, '$ref')) return readReference(walk, schema['$ref'], place);
  switch (assertedType(schema)) {
    case 'string':
      return { kind: 'string' };
    case 'integer':
      return { kind: 'integer' };
    case 'boolean':
      return { kind: 'boolean' };
    case 'array':
      return readSet(walk, schema, place);
    case 'object':
      return readRecord(walk, schema, place);
    case null:
      return leaveOut(walk, place);
  }
}

function readReference(walk: Walk, reference: JsonValue | undefined, place: Place): InputShape | null {
  const local = typeof reference === 'string' && /^#\/[^%]*$/.test(reference) && !place.refs.includes(reference);
  const target = local ? targetOf(walk.root, reference) : undefined;
  if (!local || target === undefined) return leaveOut(walk, place);
  return readShape(walk, target, { ...place, refs: [...place.refs, reference] });
}

function targetOf(root: JsonObject, reference: string): JsonValue | undefined {
  try {
    return valueAt(root, reference.slice(1));
  } catch {
    return undefined;
  }
}

function readSet(walk: Walk, schema: JsonObject, place: Place): InputShape | null {
  const { items } = schema;
  if (items === undefined || Object.hasOwn(schema, 'prefixItems')) return leaveOut(walk, place);
  const element = readShape(walk, items, { ...place, path: [...place.path, '*'] });
  return element === null ? null : { kind: 'set', element };
}

function readRecord(walk: Walk, schema: JsonObject, place: Place): RecordShape {
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? (schema['required'] as readonly JsonValue[]) : [];
  const members: [string, { shape: InputShape; required: boolean }][] = [];
  for (const [key, property] of Object.entries(properties)) {
    const inside = { ...place, path: [...place.path, key] };
    const shape = key.startsWith('__') ? leaveOut(walk, inside) : readShape(walk, property, inside);
    if (shape !== null) members.push([key, { shape, required: required.includes(key) }]);
  }
  if (isOpen(schema)) leaveOut(walk, { ...place, path: [...place.path, '*'] });
  return { kind: 'record', members: Object.fromEntries(members) };
}

function isOpen(schema: JsonObject): boolean {
  return schema['additionalProperties'] !== false && schema['unevaluatedProperties'] !== false;
}

type AssertedType = 'string' | 'integer' | 'boolean' | 'array' | 'object' | null;

const TYPABLE = ['string', 'integer', 'boolean', 'array', 'object'] as const;

function assertedType(schema: JsonObject): AssertedType {
  const stated = schema['type'];
  if (stated !== undefined) return TYPABLE.find((type) => type === stated) ?? null;
  const values = Object.hasOwn(schema, 'const') ? [schema['const']] : schema['enum'];
  if (!Array.isArray(values) || values.length === 0) return null;
  const types = new Set((values as readonly JsonValue[]).map(typeOfScalar));
  return types.size === 1 ? ([...types][0] ?? null) : null;
}

function typeOfScalar(value: JsonValue): AssertedType {
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'boolean';
  return Number.isSafeInteger(value) ? 'integer' : null;
}

function leaveOut(walk: Walk, place: Place): null {
  walk.unreadable.push(pointerFrom(place.path));
  return null;
}
