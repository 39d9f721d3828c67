import { z } from 'zod';
import { problem } from '../../client/contract/problem.js';
import { ERRORS, type ErrorCode } from '../../domain/errors/error-codes.js';
import type { Components, SchemaObject } from './components.js';
import { RETRY_AFTER, WWW_AUTHENTICATE, type AnswerHeader } from './headers.js';
import type { Answer } from './operation.js';

/** The contract's problem with the codes that exist: the list is that of the errors, which the contract does not know. */
const problemWithCodes = problem
  .extend({ code: z.enum(Object.keys(ERRORS)).describe('Stable; `docs/errors.md` lists them.') })
  .meta({ id: 'Problem', description: problem.description ?? '' });

/** What an operation may answer, by status: what it declares, and a problem for each status its refusals have. */
export function responsesOf(
  answers: Readonly<Record<number, Answer>>,
  refusals: readonly ErrorCode[],
  components: Components,
): SchemaObject {
  const responses = new Map<string, Response>();
  for (const [status, answer] of Object.entries(answers)) responses.set(status, success(answer, components));
  for (const status of [...new Set(refusals.map((code) => ERRORS[code].status))].sort((a, b) => a - b)) {
    const codes = [...new Set(refusals.filter((code) => ERRORS[code].status === status))].sort();
    const refused = refusal(status, codes, components);
    const declared = responses.get(String(status));
    responses.set(String(status), declared === undefined ? refused : either(declared, refused));
  }
  return Object.fromEntries(responses);
}

interface Response {
  readonly description: string;
  readonly headers?: SchemaObject;
  readonly content?: SchemaObject;
  readonly 'x-codes'?: readonly ErrorCode[];
}

/** One status with two meanings, which the media type tells apart; no header is certain then. */
function either(declared: Response, refused: Response): Response {
  const headers = Object.entries({ ...declared.headers, ...refused.headers }).map(([name, header]) => {
    const { required: _, ...rest } = header as SchemaObject;
    return [name, rest];
  });
  return {
    ...refused,
    description: `${declared.description}\n\nAs a problem:\n${refused.description}`,
    ...(headers.length === 0 ? {} : { headers: Object.fromEntries(headers) as SchemaObject }),
    content: { ...declared.content, ...refused.content },
  };
}

function success({ means, body, text, headers }: Answer, components: Components): Response {
  const json = body === undefined ? {} : { 'application/json': { schema: components.schema(body) } };
  const others = Object.entries(text ?? {}).map(([type, description]) => [
    type,
    { schema: { type: 'string', description } },
  ]);
  const content = { ...json, ...(Object.fromEntries(others) as SchemaObject) };
  return {
    description: means,
    ...headersOf(headers ?? [], components),
    ...(Object.keys(content).length === 0 ? {} : { content }),
  };
}

function refusal(status: number, codes: readonly ErrorCode[], components: Components): Response {
  const lines = codes.map((code) => `- \`${code}\`: ${ERRORS[code].mend}`);
  const headers = status === 401 ? [WWW_AUTHENTICATE] : status === 429 || status === 503 ? [RETRY_AFTER] : [];
  return {
    description: lines.join('\n'),
    ...headersOf(headers, components),
    content: { 'application/problem+json': { schema: components.schema(problemWithCodes) } },
    'x-codes': codes,
  };
}

function headersOf(headers: readonly AnswerHeader[], components: Components): { readonly headers?: SchemaObject } {
  if (headers.length === 0) return {};
  const entries = headers.map(({ name, means, always, schema }) => [
    name,
    { description: means, ...(always ? { required: true } : {}), schema: components.schema(schema) },
  ]);
  return { headers: Object.fromEntries(entries) as SchemaObject };
}
