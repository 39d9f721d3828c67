import type { JsonObject, JsonValue } from '../domain/json/json-value.js';
import { isJsonObject } from '../domain/json/json-value.js';
import type { ArgumentProblem } from './argument-problem.js';
import { copyJson, deepFrozen } from './json-copy.js';
import { problemAt } from './manifest-problem.js';
import type { PlacedProblem } from './manifest-problem.js';
import { createSchemaCompiler, metaSchemaProblems } from './schema-compiler.js';
import type { SchemaCheck } from './schema-compiler.js';
import { defaultProblems } from './schema-defaults.js';
import { schemaProblems } from './schema-rules.js';
import type { SchemaPurpose } from './schema-rules.js';

export type EffectiveArguments =
  | { readonly ok: true; readonly arguments: JsonObject }
  | { readonly ok: false; readonly problems: readonly ArgumentProblem[] };

export type ResultCheck = { readonly ok: true } | { readonly ok: false; readonly problems: readonly ArgumentProblem[] };

/** The compiled input schema of a capability. */
export interface ArgumentSchema {
  /**
   * The arguments that will be judged, shown, hashed and sent: those given, completed by the defaults of the schema at every level, in
   * a new, deeply frozen object that shares nothing with the input or with an earlier answer. Nothing is ever coerced: the text `"3"`
   * is no integer. Nothing is ever dropped: what the schema does not declare is a problem. Messages never hold values.
   */
  effectiveArguments(value: JsonValue): EffectiveArguments;
}

/** The compiled output schema of a capability: an answer either fits or it does not; nothing is added or changed. */
export interface ResultSchema {
  checkResult(value: JsonValue): ResultCheck;
}

export type Compiled<S> =
  { readonly ok: true; readonly schema: S } | { readonly ok: false; readonly problems: readonly PlacedProblem[] };

/** Compiles an input schema, once per manifest. `at` is its pointer in the manifest. */
export function compileArgumentSchema(schema: JsonObject, at = '/inputSchema'): Compiled<ArgumentSchema> {
  const compiled = compile(schema, 'arguments', at);
  if (!compiled.ok) return compiled;
  const check = compiled.schema;
  const effectiveArguments = (value: JsonValue): EffectiveArguments => {
    const copy = copyJson(value);
    if (!copy.ok) return { ok: false, problems: [copy.problem] };
    if (!isJsonObject(copy.value)) return { ok: false, problems: [{ pointer: '', message: 'must be an object' }] };
    const checked = check(copy.value);
    return checked.ok ? { ok: true, arguments: deepFrozen(copy.value) } : checked;
  };
  return { ok: true, schema: { effectiveArguments } };
}

/** Compiles an output schema, once per manifest. `at` is its pointer in the manifest. */
export function compileResultSchema(schema: JsonObject, at = '/outputSchema'): Compiled<ResultSchema> {
  const compiled = compile(schema, 'result', at);
  return compiled.ok ? { ok: true, schema: { checkResult: compiled.schema } } : compiled;
}

function compile(schema: JsonObject, purpose: SchemaPurpose, at: string): Compiled<SchemaCheck> {
  const problems = [...schemaProblems(schema, purpose, at), ...metaSchemaProblems(schema, at)];
  if (problems.length > 0) return { ok: false, problems };
  const compileOne = createSchemaCompiler(purpose === 'arguments');
  try {
    const check = compileOne(schema);
    const badDefaults = purpose === 'arguments' ? defaultProblems(schema, at, compileOne) : [];
    return badDefaults.length > 0 ? { ok: false, problems: badDefaults } : { ok: true, schema: check };
  } catch (error) {
    return { ok: false, problems: [problemAt(at, error instanceof Error ? error.message : String(error))] };
  }
}

/** `ArgumentSchema.effectiveArguments` of a capability in force. */
export function effectiveArguments(
  capability: { readonly input: ArgumentSchema },
  value: JsonValue,
): EffectiveArguments {
  return capability.input.effectiveArguments(value);
}

/** What is wrong with a tool's answer, in one line, or null when it fits the output schema or none is declared. Holds no value of it. */
export function outputProblem(capability: { readonly output: ResultSchema | null }, value: JsonValue): string | null {
  const checked = capability.output?.checkResult(value) ?? { ok: true };
  return checked.ok
    ? null
    : checked.problems.map(({ pointer, message }) => `${pointer || 'the answer'}: ${message}`).join('; ');
}
