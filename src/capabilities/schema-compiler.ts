import { Ajv2020 } from 'ajv/dist/2020.js';
import type { DefinedError, ErrorObject, Options } from 'ajv/dist/2020.js';
import { canonicalJson } from '../domain/json/canonical-json.js';
import type { JsonObject, JsonValue } from '../domain/json/json-value.js';
import { argumentProblems } from './argument-problem.js';
import type { ArgumentProblem } from './argument-problem.js';
import { compileLinearPattern, PATTERN_STEPS_MAX } from './linear-pattern.js';
import { problemAt } from './manifest-problem.js';
import type { PlacedProblem } from './manifest-problem.js';
import { TEXT_FORMATS } from './text-formats.js';

export type SchemaCheck = (value: JsonValue) => { readonly ok: true } | Misfit;

export interface Misfit {
  readonly ok: false;
  readonly problems: readonly ArgumentProblem[];
}

/** `$data` is never on, and without `loadSchema` nothing can be fetched. */
const OPTIONS = {
  strict: true,
  strictTypes: true,
  strictTuples: true,
  // It would refuse `anyOf: [{required: [a]}, {required: [b]}]`; schema-rules.ts refuses what could never be given.
  strictRequired: false,
  allowUnionTypes: true,
  allErrors: true,
  coerceTypes: false,
  removeAdditional: false,
  ownProperties: true,
  $data: false,
  addUsedSchema: false,
  logger: false,
  verbose: false,
} as const satisfies Options;

/** Knows the meta-schema and no other; compiling that once takes longer than compiling any schema of a manifest. */
const META = new Ajv2020(OPTIONS);

class StepsExceeded extends Error {}

/** What the patterns of one schema may still spend in the check that is running. Checks are synchronous, so one meter is enough. */
interface Meter {
  stepsLeft: number;
}

/** What the meta-schema of JSON Schema 2020-12 says against a schema. `at` is the schema's pointer in the manifest. */
export function metaSchemaProblems(schema: JsonObject, at: string): readonly PlacedProblem[] {
  if (META.validateSchema(schema) === true) return [];
  return (META.errors ?? []).map((error) => problemAt(at + error.instancePath, error.message ?? 'not a valid schema'));
}

/**
 * Compiles schemas that have passed `schemaProblems` and `metaSchemaProblems`; throws ajv's own `Error` on one that its strict mode
 * still refuses. With `completes`, a check fills defaults into the value it is given.
 */
export function createSchemaCompiler(completes: boolean): (schema: JsonObject) => SchemaCheck {
  const meter: Meter = { stepsLeft: 0 };
  const regExp = Object.assign((source: string) => meteredPattern(source, meter), { code: 'linear pattern' });
  const ajv = new Ajv2020({ ...OPTIONS, useDefaults: completes, validateSchema: false, meta: false, code: { regExp } });
  for (const [name, validate] of Object.entries(TEXT_FORMATS)) ajv.addFormat(name, { type: 'string', validate });
  // The built-in check compares every item with every other.
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must not hold the same item twice' },
    validate: (isOn: boolean, items: readonly JsonValue[]) =>
      !isOn || new Set(items.map(canonicalJson)).size === items.length,
  });
  return (schema) => {
    const validate = ajv.compile(schema);
    return (value) => {
      meter.stepsLeft = PATTERN_STEPS_MAX;
      return withinBudget(() => (validate(value) ? null : (validate.errors ?? [])));
    };
  };
}

function withinBudget(errorsOf: () => readonly ErrorObject[] | null): { readonly ok: true } | Misfit {
  try {
    const errors = errorsOf();
    return errors === null
      ? { ok: true }
      : { ok: false, problems: argumentProblems(errors as readonly DefinedError[]) };
  } catch (error) {
    if (!(error instanceof StepsExceeded)) throw error;
    // Answering `false` instead would pass where the pattern stands below `not`.
    return {
      ok: false,
      problems: [{ pointer: '', message: 'the texts are too long to be checked by the patterns of the schema' }],
    };
  }
}

function meteredPattern(source: string, meter: Meter): { test(text: string): boolean } {
  const pattern = compileLinearPattern(source);
  if (typeof pattern === 'string') throw new Error(`a pattern cannot be used: ${pattern}`);
  return {
    test(text) {
      meter.stepsLeft -= pattern.programSize * text.length;
      if (meter.stepsLeft < 0) throw new StepsExceeded();
      return pattern.test(text);
    },
  };
}
