import type { z } from 'zod';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { pointerFrom } from '../domain/json/json-pointer.js';

/**
 * Holds a body or a query against its schema of the wire contract.
 *
 * @throws CountersignError `invalid_request` with the pointer of the first wrong field and all problems; values are
 * never repeated.
 */
export function readInput<S extends z.ZodType>(schema: S, input: unknown): z.output<S> {
  const parsed = schema.safeParse(input ?? {});
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.flatMap((issue) => problemsOf(issue));
  const pointer = problems[0]?.pointer ?? '';
  throw new CountersignError('invalid_request', problems[0]?.text ?? 'the request does not fit', {
    pointer,
    problems: problems.map(({ pointer: at, text }) => `${at === '' ? '(body)' : at}: ${text}`),
  });
}

interface FieldProblem {
  readonly pointer: string;
  readonly text: string;
}

function problemsOf(issue: z.core.$ZodIssue): FieldProblem[] {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ pointer: pointerFrom([...path, key]), text: 'unknown field' }));
  }
  if (issue.code === 'invalid_value') {
    return [{ pointer: pointerFrom(path), text: `must be one of ${issue.values.map(String).join(', ')}` }];
  }
  if (issue.code === 'invalid_type') return [{ pointer: pointerFrom(path), text: `must be ${issue.expected}` }];
  return [{ pointer: pointerFrom(path), text: issue.message.replace(/^Invalid input: /, '') }];
}
