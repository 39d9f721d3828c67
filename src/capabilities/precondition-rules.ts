import { parsePointer } from '../domain/json/json-pointer.js';
import type { JsonObject } from '../domain/json/json-value.js';
import type { Expectation, Operand } from '../policy/core/precondition.js';
import type { ManifestDraft } from './manifest-schema.js';
import { problemAt } from './manifest-problem.js';
import type { PlacedProblem } from './manifest-problem.js';
import { requestProblems, usesPlaceholder } from './request-rules.js';
import { declaredArgument, isScalarSchema } from './schema-lookup.js';

type Draft = NonNullable<ManifestDraft['preconditions']>[number];

interface Surroundings {
  readonly credentials: Readonly<Record<string, { readonly header: string }>>;
}

/** What keeps declared preconditions from being read with a plain GET, from demanding anything, or from ever holding. */
export function* preconditionProblems(
  { preconditions, idempotency }: ManifestDraft,
  inputSchema: JsonObject | null,
  { credentials }: Surroundings,
): Generator<PlacedProblem> {
  if (!preconditions) return;
  if (idempotency?.replayAsProbe === true) {
    yield problemAt('/preconditions', 'a replay may be the first that arrives, and nothing is read before it');
  }
  const names = new Set<string>();
  for (const [index, precondition] of preconditions.entries()) {
    const at = `/preconditions/${index}`;
    if (names.has(precondition.name)) yield problemAt(`${at}/name`, 'another precondition has this name');
    names.add(precondition.name);
    yield* readingProblems(precondition, at, inputSchema, credentials);
    yield* demandProblems(precondition, at, inputSchema);
  }
}

function* readingProblems(
  { request, credential }: Draft,
  at: string,
  inputSchema: JsonObject | null,
  credentials: Surroundings['credentials'],
): Generator<PlacedProblem> {
  if (request.method !== 'GET') yield problemAt(`${at}/request/method`, 'only a GET is sure to change nothing');
  yield* requestProblems(request, { inputSchema, at: `${at}/request`, hasExternalRequestId: false });
  if (usesPlaceholder(request, 'downstreamKey')) {
    yield problemAt(`${at}/request`, '{downstreamKey} is unknown here: the world is read before there is a call');
  }
  if (credential === null) return;
  if (!Object.hasOwn(credentials, credential)) {
    yield problemAt(`${at}/credential`, 'names a credential that the settings do not list under `credentials`');
    return;
  }
  const carrier = credentials[credential]?.header.toLowerCase();
  for (const name of Object.keys(request.headers)) {
    if (name.toLowerCase() === carrier)
      yield problemAt(`${at}/request/headers/${name}`, 'this header carries the credential');
  }
}

function* demandProblems(
  { expect, unchanged }: Draft,
  at: string,
  inputSchema: JsonObject | null,
): Generator<PlacedProblem> {
  if (expect === null) {
    if (unchanged === false) yield problemAt(at, 'demands nothing: say what to expect, or that it must not change');
    return;
  }
  const { equals, oneOf, atLeast, atMost } = expect;
  const count = [equals, oneOf, atLeast, atMost].filter((one) => one !== undefined).length;
  if (count === 0) yield problemAt(`${at}/expect`, 'needs one of equals, oneOf, atLeast and atMost');
  if (equals !== undefined && count > 1) yield problemAt(`${at}/expect`, '`equals` says it all: leave the others out');
  if (typeof atLeast === 'number' && typeof atMost === 'number' && atLeast > atMost) {
    yield problemAt(`${at}/expect`, 'no number is at least the one and at most the other');
  }
  for (const [place, operand, isNumber] of operandsOf(expect)) {
    const message = operandProblem(operand, isNumber, inputSchema);
    if (message !== null) yield problemAt(`${at}/expect/${place}`, message);
  }
}

function operandsOf({ equals, oneOf, atLeast, atMost }: Expectation): readonly [string, Operand, boolean][] {
  const found: [string, Operand, boolean][] = [];
  if (equals !== undefined) found.push(['equals', equals, false]);
  for (const [index, operand] of (oneOf ?? []).entries()) found.push([`oneOf/${index}`, operand, false]);
  if (atLeast !== undefined) found.push(['atLeast', atLeast, true]);
  if (atMost !== undefined) found.push(['atMost', atMost, true]);
  return found;
}

/** Null when there is always something to compare with. */
function operandProblem(operand: Operand, isNumber: boolean, inputSchema: JsonObject | null): string | null {
  if (typeof operand !== 'object' || operand === null) {
    return isNumber && typeof operand !== 'number' ? 'must be a number, or an argument that is one' : null;
  }
  const path = parsePointer(operand.argument);
  if (inputSchema === null || path === null) return null;
  const declared = declaredArgument(inputSchema, path);
  if (declared === null) return 'is not among the properties of inputSchema';
  if (!declared.isAlwaysPresent) return 'may be absent: make it required or give it a default';
  if (!isScalarSchema(declared.schema)) return 'must be declared as a text, number or boolean';
  const { type } = declared.schema;
  return isNumber && type !== 'integer' && type !== 'number' ? 'must be declared as an integer or a number' : null;
}
