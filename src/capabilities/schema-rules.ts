import { pointerFrom } from '../domain/json/json-pointer.js';
import type { JsonObject, JsonValue } from '../domain/json/json-value.js';
import { isJsonObject } from '../domain/json/json-value.js';
import { escapeForDisplay } from '../domain/text/escape-text.js';
import { compileLinearPattern, isAnchored, PATTERN_LENGTH_MAX } from './linear-pattern.js';
import { distinctProblems, problemAt } from './manifest-problem.js';
import type { PlacedProblem } from './manifest-problem.js';
import { childSchemas, isKnownKeyword, SCHEMA_DIALECT, takesDefaults } from './schema-keywords.js';
import { definitionNamed } from './schema-lookup.js';
import { TEXT_FORMATS } from './text-formats.js';

/** What a schema describes: arguments are completed by defaults and admit nothing that is not declared; results are only checked. */
export type SchemaPurpose = 'arguments' | 'result';

export const SCHEMA_DEPTH_MAX = 24;
/** Counted with every `$ref` replaced by what it names: no check visits one value more often than this. */
export const SUBSCHEMAS_MAX = 2_000;
const PATTERNS_MAX = 64;
const VALUES_MAX = 1_000;
const NAME_LENGTH_MAX = 128;
const PROBLEMS_MAX = 50;

interface Walk {
  readonly root: JsonObject;
  readonly purpose: SchemaPurpose;
  /** Pointer of the root in the manifest. */
  readonly at: string;
  readonly problems: PlacedProblem[];
  visited: number;
  patterns: number;
}

interface Place {
  readonly pointer: string;
  readonly depth: number;
  /** Names of the definitions that led here. */
  readonly through: readonly string[];
  /** True for a value of `properties` in plain nesting, where a default is filled in. */
  readonly isProperty: boolean;
  readonly takesDefaults: boolean;
  readonly isNegated: boolean;
}

/**
 * Everything that keeps a schema from being used here, beside what its meta-schema says: unknown keywords, references to other places
 * than `#/$defs/NAME`, recursion, sizes, patterns that could take long or match only a part, unknown formats, fractions as `multipleOf`, defaults
 * where they would be lost. `at` is the pointer of the schema in the manifest.
 */
export function schemaProblems(schema: JsonObject, purpose: SchemaPurpose, at: string): readonly PlacedProblem[] {
  const walk: Walk = { root: schema, purpose, at, problems: [], visited: 0, patterns: 0 };
  if (purpose === 'arguments') checkArgumentsRoot(schema, at, walk.problems);
  const place = { depth: 0, through: [], isProperty: false, takesDefaults: purpose === 'arguments', isNegated: false };
  visit(schema, { ...place, pointer: at }, walk);
  if (walk.visited > SUBSCHEMAS_MAX) {
    walk.problems.push(problemAt(at, `at most ${SUBSCHEMAS_MAX} subschemas, each use of a $ref counted`));
  }
  if (walk.patterns > PATTERNS_MAX)
    walk.problems.push(problemAt(at, `at most ${PATTERNS_MAX} patterns, each use counted`));
  return distinctProblems(walk.problems).slice(0, PROBLEMS_MAX);
}

function checkArgumentsRoot(schema: JsonObject, at: string, problems: PlacedProblem[]): void {
  if (schema['type'] !== 'object')
    problems.push(problemAt(`${at}/type`, 'arguments are an object: say `type: object`'));
  if (schema['additionalProperties'] !== false) {
    const message = 'say `additionalProperties: false`, so that no argument rides along unseen';
    problems.push(problemAt(`${at}/additionalProperties`, message));
  }
}

function visit(schema: JsonValue | undefined, place: Place, walk: Walk): void {
  walk.visited += 1;
  if (walk.visited > SUBSCHEMAS_MAX || typeof schema === 'boolean') return;
  const say = (key: string, message: string): void => void walk.problems.push(problemAt(place.pointer + key, message));
  if (!isJsonObject(schema)) return say('', 'a schema is a map, true or false');
  if (place.depth > SCHEMA_DEPTH_MAX) return say('', `at most ${SCHEMA_DEPTH_MAX} levels of subschemas`);
  for (const keyword of Object.keys(schema)) {
    if (!isKnownKeyword(keyword)) say(pointerFrom([keyword]), 'not a keyword that is supported here');
  }
  checkPlainKeywords(schema, place, walk, say);
  visitReference(schema, place, walk, say);
  for (const child of childSchemas(schema)) {
    if (child.name !== null && child.keyword !== 'patternProperties') checkName(child.name, child.key, say);
    visit(child.schema, childPlace(place, child.key, child.keyword), walk);
  }
}

function childPlace(place: Place, key: string, keyword: string): Place {
  const carries = place.takesDefaults && takesDefaults(keyword);
  return {
    pointer: place.pointer + key,
    depth: place.depth + 1,
    through: place.through,
    isProperty: keyword === 'properties' && carries,
    takesDefaults: carries,
    isNegated: place.isNegated || keyword === 'not' || keyword === 'if',
  };
}

type Say = (key: string, message: string) => void;

/** A name that every object inherits would look present in arguments that do not have it. */
function checkName(name: string, key: string, say: Say): void {
  if (name in Object.prototype || name === 'prototype') say(key, 'this name is reserved: every object inherits it');
  if (name.length > NAME_LENGTH_MAX) say(key, `a name has at most ${NAME_LENGTH_MAX} characters`);
}

function visitReference(schema: JsonObject, place: Place, walk: Walk, say: Say): void {
  const reference = schema['$ref'];
  if (reference === undefined) return;
  const found = typeof reference === 'string' ? definitionNamed(walk.root, reference) : null;
  if (found === null)
    return say('/$ref', 'only `#/$defs/NAME` of the same schema can be referred to, and NAME must exist');
  if (place.through.includes(found.name))
    return say('/$ref', 'a schema that contains itself is not supported: bound its depth');
  const through = [...place.through, found.name];
  const pointer = `${walk.at}/$defs/${found.name}`;
  visit(found.schema, { ...place, pointer, through, depth: place.depth + 1, isProperty: false }, walk);
}

function checkPlainKeywords(schema: JsonObject, place: Place, walk: Walk, say: Say): void {
  if (schema['$schema'] !== undefined && schema['$schema'] !== SCHEMA_DIALECT)
    say('/$schema', `must be ${SCHEMA_DIALECT}`);
  if (schema['default'] !== undefined) checkDefaultPlace(place, walk.purpose, say);
  checkPatterns(schema, place, walk, say);
  const format = schema['format'];
  if (typeof format === 'string' && !Object.hasOwn(TEXT_FORMATS, format)) {
    say('/format', `supported formats are ${Object.keys(TEXT_FORMATS).join(', ')}`);
  }
  if (schema['multipleOf'] !== undefined && !Number.isSafeInteger(schema['multipleOf'])) {
    say('/multipleOf', 'must be a whole number: fractions are not exact in binary; use minor units such as cents');
  }
  for (const keyword of ['enum', 'const'] as const) {
    const values = keyword === 'enum' ? schema['enum'] : [schema['const'] ?? null];
    if (Array.isArray(values)) checkListedValues(values as readonly JsonValue[], `/${keyword}`, say);
  }
  for (const keyword of ['title', 'description', '$comment'] as const) {
    const text = schema[keyword];
    if (typeof text === 'string' && hasHiddenText(text))
      say(`/${keyword}`, 'holds invisible or bidirectional characters');
  }
  checkRequiredNames(schema, say);
}

function checkDefaultPlace(place: Place, purpose: SchemaPurpose, say: Say): void {
  if (purpose === 'result') say('/default', 'results are checked, never completed: remove the default');
  else if (!place.isProperty) {
    say(
      '/default',
      'a default is filled in only for a property in plain nesting, not below anyOf, oneOf, if and the like or in $defs itself',
    );
  }
}

function checkPatterns(schema: JsonObject, place: Place, walk: Walk, say: Say): void {
  const named = isJsonObject(schema['patternProperties']) ? Object.keys(schema['patternProperties']) : [];
  const patterns = named.map((source) => [pointerFrom(['patternProperties', source]), source] as const);
  const own = schema['pattern'];
  for (const [key, source] of typeof own === 'string' ? [['/pattern', own] as const, ...patterns] : patterns) {
    walk.patterns += 1;
    if (walk.patterns > PATTERNS_MAX) return;
    const message = patternMessage(source);
    if (message !== null) say(key, message);
    else if (walk.purpose === 'arguments' && !place.isNegated && !isAnchored(source)) {
      say(
        key,
        'must begin with ^ and end with $, alternatives in a group: otherwise anything may stand around what matches',
      );
    }
  }
}

function patternMessage(source: string): string | null {
  const compiled = compileLinearPattern(source);
  if (typeof compiled !== 'string') return null;
  switch (compiled) {
    case 'too_long':
      return `a pattern has at most ${PATTERN_LENGTH_MAX} characters`;
    case 'not_ecmascript':
      return 'not a regular expression of ECMAScript with the flag u';
    case 'not_linear':
      return 'not a regular expression of RE2: look-around, back-references and repeats beyond 1000 are not supported';
    case 'too_large':
      return 'repeats too much: use maxLength for lengths';
  }
}

function checkListedValues(values: readonly JsonValue[], key: string, say: Say): void {
  if (values.length > VALUES_MAX) say(key, `at most ${VALUES_MAX} values`);
  if (values.some((value) => typeof value === 'object' && value !== null)) {
    say(key, 'only texts, numbers, true, false and null can be listed');
  }
}

/** With nothing else admitted, a required name that is not declared could never be given. */
function checkRequiredNames(schema: JsonObject, say: Say): void {
  const { required, properties, patternProperties } = schema;
  if (!Array.isArray(required)) return;
  const names = (required as readonly JsonValue[]).filter((name) => typeof name === 'string');
  for (const name of names) {
    if (name in Object.prototype) say('/required', 'a required name is reserved: every object inherits it');
    const isDeclared = isJsonObject(properties) && Object.hasOwn(properties, name);
    if (schema['additionalProperties'] === false && patternProperties === undefined && !isDeclared) {
      say('/required', 'a required name is not among the properties, so it could never be given');
    }
  }
}

/** True when a reader would overlook or be misled by something in the text. */
export function hasHiddenText(text: string): boolean {
  return escapeForDisplay(text, 'multi-line') !== text;
}
