import { performance } from 'node:perf_hooks';
import type { HttpClient } from './http-client.js';
import type { NoResponseCause } from './outbound-request.js';

export interface FetchRules {
  /** What beside public addresses may be connected to. */
  readonly allowAddresses: readonly string[];
  readonly timeoutMs: number;
  readonly responseBytesMax: number;
}

/** What libraries say of a request; other parts of the standard's `RequestInit` are not taken. */
export interface FetchInit {
  readonly method: string;
  readonly headers: Headers | Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** The peer gave no whole answer. The message is the cause alone: no URL, header or body gets into it. */
export class FetchUnanswered extends Error {
  override readonly name = 'FetchUnanswered';

  constructor(readonly reason: NoResponseCause | 'too_long' | 'body_unsupported') {
    super(reason);
  }
}

/**
 * The door out in the form of `fetch`, for libraries that take one: every address is checked, nothing is redirected or sent twice,
 * and an answer has an end. Rejects with `FetchUnanswered`.
 */
export function fetchThrough(
  http: Pick<HttpClient, 'send'>,
  rules: FetchRules,
): (url: string, init: FetchInit) => Promise<Response> {
  return async (url, { method, headers, body }) => {
    const given = headers instanceof Headers ? Object.fromEntries(headers.entries()) : headers;
    const { authorization, ...plain } = lowerCased(given);
    const deadline = performance.now() + rules.timeoutMs;
    const bytes = bytesOf(body);
    const result = await http.send({
      method,
      url,
      headers: plain,
      ...(authorization === undefined ? {} : { credentialHeaders: { authorization } }),
      ...(bytes === undefined ? {} : { body: bytes }),
      allowAddresses: rules.allowAddresses,
      sendBeforeMonotonicMs: deadline,
      deadlineMonotonicMs: deadline,
      responseBytesMax: rules.responseBytesMax,
    });
    if (result.kind === 'no_response') throw new FetchUnanswered(result.cause);
    if (result.bodyTruncated) throw new FetchUnanswered('too_long');
    const answered = result.body.byteLength === 0 ? null : new Uint8Array(result.body);
    return new Response(answered, { status: result.status, headers: result.headers });
  };
}

function lowerCased(headers: Readonly<Record<string, string>>): { authorization?: string; [name: string]: string } {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function bytesOf(body: unknown): Uint8Array | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string' || body instanceof URLSearchParams) return Buffer.from(String(body), 'utf8');
  throw new FetchUnanswered('body_unsupported');
}
