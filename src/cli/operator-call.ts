import { readFileSync } from 'node:fs';
import { askServer, type Method, type ServerAnswer, type ServerRequest } from '../client/server-request.js';
import type { Settings } from '../config/settings.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { ERRORS, type ErrorCode } from '../domain/errors/error-codes.js';
import { usage, type Given, type Option } from './command.js';

export const SERVER_OPTIONS = {
  url: {
    type: 'string',
    value: 'URL',
    about: 'the running server; without it http.host and http.port of the settings',
  },
  'token-file': { type: 'string', value: 'FILE', about: 'file with a token of an operator of the installation' },
} as const satisfies Record<string, Option>;

/** Where the running server is. */
export const serverUrl = (given: Given, { http }: Settings): string =>
  given.text('url') ?? `http://${bracketed(http.host)}:${http.port}`;

/** One request to the running server, with an operator's token. Throws its refusal under the server's own code. */
export async function operatorCall(
  given: Given,
  settings: Settings,
  path: string,
  body?: object,
  method: Method = 'POST',
): Promise<unknown> {
  const token = tokenFrom(given.needed('token-file'));
  const url = serverUrl(given, settings);
  const answer = await answerOf(method, { url, path, token, ...(body === undefined ? {} : { body }) });
  if (answer.status < 300) return answer.body;
  const { code, detail } = Object(answer.body) as { readonly code?: unknown; readonly detail?: unknown };
  if (!isErrorCode(code)) {
    throw new CountersignError('server_unreachable', `${url} answered ${answer.status}, and not as a server of ours`);
  }
  throw new CountersignError(code, typeof detail === 'string' ? detail : ERRORS[code].mend);
}

async function answerOf(method: Method, request: ServerRequest): Promise<ServerAnswer> {
  try {
    return await askServer(method, request);
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as { readonly code?: string };
    const why = code === undefined ? '' : ` (${code})`;
    throw new CountersignError('server_unreachable', `no server answers at ${request.url}${why}`);
  }
}

const isErrorCode = (code: unknown): code is ErrorCode => typeof code === 'string' && Object.hasOwn(ERRORS, code);

function tokenFrom(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    throw usage(`the file of --token-file cannot be read`);
  }
}

const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host);
