import type { DefinedError } from 'ajv/dist/2020.js';
import { pointerFrom } from '../domain/json/json-pointer.js';

/** What is wrong with one argument. The message says what the schema wants and never what was sent. */
export interface ArgumentProblem {
  /** RFC 6901 pointer into the arguments. A name that is not plainly a name is cut from it. */
  readonly pointer: string;
  readonly message: string;
}

export const ARGUMENT_PROBLEMS_MAX = 20;

const LISTED_MAX = 10;

const NOT_DECLARED = 'is not declared by the schema';

/** Names and indexes as people write them; anything else in a name could be a value that slipped into its place. */
const PLAIN_SEGMENT = /^[A-Za-z0-9_.-]{1,64}$/;

/** The problems in the order found, without repetition, at most `ARGUMENT_PROBLEMS_MAX`. */
export function argumentProblems(errors: readonly DefinedError[]): readonly ArgumentProblem[] {
  const problems = new Map<string, ArgumentProblem>();
  for (const error of errors) {
    if (problems.size === ARGUMENT_PROBLEMS_MAX) break;
    const problem = problemOf(error);
    problems.set(`${problem.pointer} ${problem.message}`, problem);
  }
  return [...problems.values()];
}

/** The pointer up to the first segment that is not plainly a name. */
export function plainPointer(pointer: string): string {
  const segments = pointer.split('/').slice(1);
  const firstOdd = segments.findIndex((segment) => !PLAIN_SEGMENT.test(segment));
  return (firstOdd === -1 ? segments : segments.slice(0, firstOdd)).map((segment) => `/${segment}`).join('');
}

function problemOf(error: DefinedError): ArgumentProblem {
  const within = (name: string): string => plainPointer(error.instancePath + pointerFrom([name]));
  const pointer = plainPointer(error.instancePath);
  if (error.keyword === 'required') return { pointer: within(error.params.missingProperty), message: 'is missing' };
  if (error.keyword === 'additionalProperties')
    return { pointer: within(error.params.additionalProperty), message: NOT_DECLARED };
  if (error.keyword === 'unevaluatedProperties')
    return { pointer: within(error.params.unevaluatedProperty), message: NOT_DECLARED };
  if (error.keyword === 'enum') return { pointer, message: enumMessage(error.params.allowedValues) };
  if (error.keyword === 'propertyNames') return { pointer, message: 'holds a name that the schema does not allow' };
  // Every other message of ajv speaks of the schema alone.
  return { pointer, message: error.message ?? 'does not fit the schema' };
}

function enumMessage(values: readonly unknown[]): string {
  if (values.length > LISTED_MAX) return 'must be one of the values the schema lists';
  return `must be one of ${values.map((value) => JSON.stringify(value)).join(', ')}`;
}
