import type { DefinedError } from 'ajv/dist/2020.js';

/** What is wrong with one argument. The message says what the schema wants and never what was sent. */
export interface ArgumentProblem {
  /** RFC 6901 pointer into the arguments. A name that is not plainly a name is cut from it. */
  readonly pointer: string;
  readonly message: string;
}

export const ARGUMENT_PROBLEMS_MAX = 20;

const LISTED_MAX = 10;

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
  const at = (name: string): string =>
    plainPointer(`${error.instancePath}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  switch (error.keyword) {
    case 'required':
      return { pointer: at(error.params.missingProperty), message: 'is missing' };
    case 'additionalProperties':
      return { pointer: at(error.params.additionalProperty), message: 'is not declared by the schema' };
    case 'unevaluatedProperties':
      return { pointer: at(error.params.unevaluatedProperty), message: 'is not declared by the schema' };
    case 'enum':
      return { pointer: plainPointer(error.instancePath), message: enumMessage(error.params.allowedValues) };
    case 'propertyNames':
      return { pointer: plainPointer(error.instancePath), message: 'holds a name that the schema does not allow' };
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- every other message of ajv speaks of the schema alone
    default:
      return { pointer: plainPointer(error.instancePath), message: error.message ?? 'does not fit the schema' };
  }
}

function enumMessage(values: readonly unknown[]): string {
  if (values.length > LISTED_MAX) return 'must be one of the values the schema lists';
  return `must be one of ${values.map((value) => JSON.stringify(value)).join(', ')}`;
}
