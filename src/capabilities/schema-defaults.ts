import type { JsonObject, JsonValue } from '../domain/json/json-value.js';
import { isJsonObject } from '../domain/json/json-value.js';
import { copyJson } from './json-copy.js';
import { problemAt } from './manifest-problem.js';
import type { PlacedProblem } from './manifest-problem.js';
import type { SchemaCheck } from './schema-compiler.js';
import { childSchemas } from './schema-keywords.js';

interface Defaulted {
  readonly pointer: string;
  readonly schema: JsonObject;
  readonly value: JsonValue;
}

/**
 * Defaults that do not fit the schema they stand in: every call that leaves such an argument out would be refused.
 * Expects a schema without other problems.
 */
export function defaultProblems(
  root: JsonObject,
  at: string,
  compile: (schema: JsonObject) => SchemaCheck,
): readonly PlacedProblem[] {
  const definitions = root['$defs'] === undefined ? {} : { $defs: root['$defs'] };
  return [...defaultsIn(root, at)].flatMap(({ pointer, schema, value }) => {
    const copy = copyJson(value);
    if (!copy.ok) return [problemAt(`${pointer}/default`, copy.problem.message)];
    const { default: _, ...rest } = schema;
    const checked = compile({ ...rest, ...definitions })(copy.value);
    if (checked.ok) return [];
    return checked.problems.map((problem) => problemAt(`${pointer}/default${problem.pointer}`, problem.message));
  });
}

function* defaultsIn(schema: JsonValue, pointer: string): Generator<Defaulted> {
  if (!isJsonObject(schema)) return;
  if (schema['default'] !== undefined) yield { pointer, schema, value: schema['default'] };
  for (const child of childSchemas(schema)) yield* defaultsIn(child.schema, pointer + child.key);
}
