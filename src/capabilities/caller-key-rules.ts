import type { JsonObject } from '../domain/json/json-value.js';
import { problemAt } from './manifest-problem.js';
import type { PlacedProblem } from './manifest-problem.js';
import { declaredArgument, isScalarSchema } from './schema-lookup.js';
import { parseTemplate, placeholderText } from './template-text.js';
import type { TemplatePart } from './template-text.js';

const AT = '/idempotency/callerKeyTemplate';

/** What a percent-encoded value can consist of. */
const VALUE_CHARACTERS_ONLY = /^[A-Za-z0-9\-._~%]*$/;

/**
 * What keeps a key template from giving one key for every possible arguments, and different keys for different ones. `inputSchema` is
 * null when it has problems of its own, so that nothing can be said about arguments.
 */
export function callerKeyProblems(template: string, inputSchema: JsonObject | null): readonly PlacedProblem[] {
  const parsed = parseTemplate(template);
  if (!parsed.ok) return [problemAt(AT, parsed.message)];
  const { parts } = parsed;
  return [...literalMessages(parts), ...placeholderMessages(parts, inputSchema)].map((message) =>
    problemAt(AT, message),
  );
}

function* literalMessages(parts: readonly TemplatePart[]): Generator<string> {
  if (parts.some((part) => typeof part === 'string' && !/^[\x21-\x7e]+$/.test(part))) {
    yield 'a key has visible ASCII characters only, no spaces';
  }
  const tokenIndexes = parts.flatMap((part, index) => (typeof part === 'object' ? [index] : []));
  if (tokenIndexes.length === 0) yield 'without a placeholder every call would have the same key';
  for (const index of tokenIndexes.slice(0, -1)) {
    const next = parts[index + 1];
    if (typeof next === 'string' && !VALUE_CHARACTERS_ONLY.test(next)) continue;
    yield 'two placeholders need a character such as : between them that no value can hold';
  }
}

function* placeholderMessages(parts: readonly TemplatePart[], inputSchema: JsonObject | null): Generator<string> {
  for (const part of parts) {
    if (typeof part === 'string' || part.kind === 'intentId') continue;
    if (part.kind !== 'argument') {
      yield 'a key can hold {args.name} and {intentId} only';
      continue;
    }
    if (inputSchema === null) continue;
    const declared = declaredArgument(inputSchema, part.path);
    if (declared?.isAlwaysPresent && isScalarSchema(declared.schema)) continue;
    yield `${placeholderText(part)} must be a text, number or boolean of inputSchema that is required or has a default`;
  }
}
