import { pointerFrom } from '../domain/json/json-pointer.js';
import type { JsonObject, JsonValue } from '../domain/json/json-value.js';
import { isJsonObject } from '../domain/json/json-value.js';

/**
 * The keywords of JSON Schema 2020-12 that a manifest may use, by what their value holds. Everything else is refused: keywords that fetch
 * or re-point (`$id`, `$anchor`, `$dynamicRef`, `$recursiveRef`), that nothing here checks (`contentSchema` and its kin), drafts of old.
 */
export const SCHEMA_KEYWORDS = {
  /** One schema. */
  single: [
    'additionalProperties',
    'contains',
    'else',
    'if',
    'items',
    'not',
    'propertyNames',
    'then',
    'unevaluatedItems',
    'unevaluatedProperties',
  ],
  /** Schemas by name. */
  named: ['$defs', 'dependentSchemas', 'patternProperties', 'properties'],
  /** A list of schemas. */
  listed: ['allOf', 'anyOf', 'oneOf', 'prefixItems'],
  /** Values. */
  plain: [
    '$comment',
    '$ref',
    '$schema',
    'const',
    'default',
    'dependentRequired',
    'deprecated',
    'description',
    'enum',
    'examples',
    'exclusiveMaximum',
    'exclusiveMinimum',
    'format',
    'maxContains',
    'maxItems',
    'maxLength',
    'maxProperties',
    'maximum',
    'minContains',
    'minItems',
    'minLength',
    'minProperties',
    'minimum',
    'multipleOf',
    'pattern',
    'readOnly',
    'required',
    'title',
    'type',
    'uniqueItems',
    'writeOnly',
  ],
} as const;

export const SCHEMA_DIALECT = 'https://json-schema.org/draft/2020-12/schema';

const KNOWN: ReadonlySet<string> = new Set(Object.values(SCHEMA_KEYWORDS).flat());

export function isKnownKeyword(keyword: string): boolean {
  return KNOWN.has(keyword);
}

/** Where a filled-in default would be lost or would depend on which branch was tried: everything but plain nesting. */
const WITHOUT_DEFAULTS: ReadonlySet<string> = new Set([
  'allOf',
  'anyOf',
  'contains',
  'dependentSchemas',
  'else',
  'if',
  'not',
  'oneOf',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]);

export function takesDefaults(keyword: string): boolean {
  return !WITHOUT_DEFAULTS.has(keyword);
}

export interface ChildSchema {
  readonly keyword: string;
  /** The name under `properties` and the like, null elsewhere. */
  readonly name: string | null;
  /** Pointer from the parent. */
  readonly key: string;
  readonly schema: JsonValue;
}

/** The subschemas of one schema, `$ref` not followed. Values of the wrong type are passed over. */
export function* childSchemas(schema: JsonObject): Generator<ChildSchema> {
  for (const keyword of SCHEMA_KEYWORDS.single) {
    const child = schema[keyword];
    if (child !== undefined) yield { keyword, name: null, key: `/${keyword}`, schema: child };
  }
  for (const keyword of SCHEMA_KEYWORDS.listed) {
    const children = schema[keyword];
    if (!Array.isArray(children)) continue;
    for (const [index, child] of (children as readonly JsonValue[]).entries()) {
      yield { keyword, name: null, key: pointerFrom([keyword, index]), schema: child };
    }
  }
  for (const keyword of SCHEMA_KEYWORDS.named) {
    const children = schema[keyword];
    if (!isJsonObject(children)) continue;
    for (const [name, child] of Object.entries(children)) {
      yield { keyword, name, key: pointerFrom([keyword, name]), schema: child };
    }
  }
}
