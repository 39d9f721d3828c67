import type { JsonObject, JsonValue } from '../domain/json/json-value.js';
import { isJsonObject } from '../domain/json/json-value.js';

const DEFINITION = /^#\/\$defs\/([A-Za-z0-9_.-]{1,128})$/;

/** The definition that `#/$defs/NAME` refers to, or null when the text is no such reference or there is none of that name. */
export function definitionNamed(root: JsonObject, reference: string): { name: string; schema: JsonValue } | null {
  const name = DEFINITION.exec(reference)?.[1];
  const definitions = root['$defs'];
  if (name === undefined || !isJsonObject(definitions) || !Object.hasOwn(definitions, name)) return null;
  return { name, schema: definitions[name] as JsonValue };
}

export interface DeclaredArgument {
  readonly schema: JsonObject;
  /** True when effective arguments always have it: it and everything around it is required or has a default. */
  readonly isAlwaysPresent: boolean;
}

/**
 * The declaration of an argument by its path of names, following `properties` and `$ref` only: what is declared in a branch of `anyOf` and
 * the like is not always declared. Null when there is none. Expects a schema without recursion.
 */
export function declaredArgument(root: JsonObject, path: readonly string[]): DeclaredArgument | null {
  let schema = resolved(root, root);
  let isAlwaysPresent = true;
  for (const name of path) {
    const properties: JsonValue | undefined = schema?.['properties'];
    if (schema === null || !isJsonObject(properties) || !Object.hasOwn(properties, name)) return null;
    const declared: JsonValue | undefined = properties[name];
    const { required } = schema;
    const isRequired = Array.isArray(required) && required.includes(name);
    const hasDefault = isJsonObject(declared) && declared['default'] !== undefined;
    isAlwaysPresent &&= isRequired || hasDefault;
    schema = resolved(root, declared);
  }
  return schema === null ? null : { schema, isAlwaysPresent };
}

/** The schema itself or, where it is only a reference, what that names; keywords beside `$ref` are kept. `true` admits everything. */
function resolved(root: JsonObject, schema: JsonValue | undefined): JsonObject | null {
  if (schema === true) return {};
  if (!isJsonObject(schema)) return null;
  const reference = schema['$ref'];
  if (typeof reference !== 'string') return schema;
  const target = resolved(root, definitionNamed(root, reference)?.schema);
  return target === null ? null : { ...target, ...schema };
}

const SCALARS: ReadonlySet<string> = new Set(['string', 'integer', 'number', 'boolean']);

/** True when every value the schema admits is a text, a number or a boolean, and so has one text of its own. */
export function isScalarSchema(schema: JsonObject): boolean {
  const { type, const: fixed, enum: listed } = schema;
  if (fixed !== undefined) return isScalar(fixed);
  if (Array.isArray(listed)) return (listed as readonly JsonValue[]).every(isScalar);
  const types = Array.isArray(type) ? (type as readonly JsonValue[]) : [type];
  return types.length > 0 && types.every((name) => typeof name === 'string' && SCALARS.has(name));
}

function isScalar(value: JsonValue): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

const ANY_BRANCH = ['allOf', 'anyOf', 'oneOf'] as const;
const ONE_BRANCH = ['if', 'then', 'else', '$ref'] as const;

/**
 * True when some branch of the schema declares a value at this path. `*` stands for every item and every name. Names that only
 * `additionalProperties` or `patternProperties` would admit count as declared by those.
 */
export function mayHaveValueAt(root: JsonObject, schema: JsonValue | undefined, path: readonly string[]): boolean {
  if (schema === undefined || typeof schema === 'boolean') return schema === true;
  const [head, ...rest] = path;
  if (head === undefined) return true;
  if (!isJsonObject(schema)) return false;
  const children = [...namedChildren(schema, head), ...itemChildren(schema, head)];
  if (children.some((child) => mayHaveValueAt(root, child, rest))) return true;
  return branchesOf(root, schema).some((branch) => mayHaveValueAt(root, branch, path));
}

function namedChildren(schema: JsonObject, head: string): readonly JsonValue[] {
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const byPattern = isJsonObject(schema['patternProperties']) ? Object.values(schema['patternProperties']) : [];
  const others = schema['additionalProperties'];
  const open = others === undefined || others === false ? byPattern : [...byPattern, others];
  if (head === '*') return [...Object.values(properties), ...open];
  return Object.hasOwn(properties, head) ? [properties[head] as JsonValue] : open;
}

function itemChildren(schema: JsonObject, head: string): readonly JsonValue[] {
  const listed = Array.isArray(schema['prefixItems']) ? (schema['prefixItems'] as readonly JsonValue[]) : [];
  const others = schema['items'] === undefined || schema['items'] === false ? [] : [schema['items']];
  if (head === '*') return [...listed, ...others];
  if (!/^(?:0|[1-9][0-9]*)$/.test(head)) return [];
  const own = listed[Number(head)];
  return own === undefined ? others : [own];
}

function branchesOf(root: JsonObject, schema: JsonObject): readonly JsonValue[] {
  const listed = ANY_BRANCH.flatMap((keyword) => {
    const branches = schema[keyword];
    return Array.isArray(branches) ? (branches as readonly JsonValue[]) : [];
  });
  const single = ONE_BRANCH.flatMap((keyword) => {
    const branch = schema[keyword];
    if (branch === undefined) return [];
    if (keyword !== '$ref') return [branch];
    const found = typeof branch === 'string' ? definitionNamed(root, branch) : null;
    return found === null ? [] : [found.schema];
  });
  return [...listed, ...single];
}
