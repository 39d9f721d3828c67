import { expect } from '@jest/globals';
import type { ApprovalRepresentation } from '../../src/client/contract/approvals.js';
import type { CommandRepresentation } from '../../src/client/contract/control.js';
import type { Problem } from '../../src/client/contract/problem.js';
import type { ToolCallRepresentation } from '../../src/client/contract/tool-calls.js';
import { ERRORS, type ErrorCode } from '../../src/domain/errors/error-codes.js';
import { mustBeDocumented } from './documented-answers.js';
import { until } from './until.js';

export interface Answer<B = unknown> {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: B;
}

export interface Extras {
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is, in place of the JSON of the body. */
  readonly raw?: string | Uint8Array;
}

export interface ProposalExtras extends Extras {
  readonly key?: string | null;
  readonly wait?: number;
  /** Further fields of the body. */
  readonly body?: Readonly<Record<string, unknown>>;
}

let keys = 0;

/** One person's or agent's view of the proxy. Every answer is kept in `transcript` and must be as the API document says. */
export class Client {
  constructor(
    private readonly url: () => string,
    private readonly token: string | null,
    private readonly transcript: string[] = [],
  ) {}

  async send<B = unknown>(method: string, path: string, body?: unknown, extras: Extras = {}): Promise<Answer<B>> {
    const payload = extras.raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(`${this.url()}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(this.token === null ? {} : { authorization: `Bearer ${this.token}` }),
        ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
        ...extras.headers,
      },
      ...(payload === undefined ? {} : { body: payload }),
    });
    const text = await response.text();
    this.transcript.push([...response.headers].join('\n'), text);
    const sent = extras.raw === undefined ? body : undefined;
    await mustBeDocumented(this.url(), {
      method,
      path,
      sent,
      status: response.status,
      headers: response.headers,
      text,
    });
    return { status: response.status, headers: response.headers, text, body: parsed(text) as B };
  }

  get<B = unknown>(path: string, extras: Extras = {}): Promise<Answer<B>> {
    return this.send('GET', path, undefined, extras);
  }

  post<B = unknown>(path: string, body: unknown, extras: Extras = {}): Promise<Answer<B>> {
    return this.send('POST', path, body, extras);
  }

  /** Proposes with a fresh key unless one (or null for none) is given, and waits for an end unless told how long. */
  propose(capability: string, args: unknown, extras: ProposalExtras = {}): Promise<Answer<ToolCallRepresentation>> {
    keys += 1;
    const key = extras.key === undefined ? `key-${process.pid}-${keys}` : extras.key;
    return this.post(
      '/v1/tool-calls',
      { capability, arguments: args, ...extras.body },
      {
        ...extras,
        headers: {
          ...(key === null ? {} : { 'idempotency-key': key }),
          prefer: `wait=${extras.wait ?? 10}`,
          ...extras.headers,
        },
      },
    );
  }

  call(toolCallId: string, wait?: number): Promise<Answer<ToolCallRepresentation>> {
    return this.get(`/v1/tool-calls/${toolCallId}${wait === undefined ? '' : `?wait=${wait}`}`);
  }

  /** The call once its status is one of these. */
  async callWhen(toolCallId: string, statuses: readonly string[], withinMs?: number): Promise<ToolCallRepresentation> {
    const answer = await until(
      `call in ${statuses.join(' or ')}`,
      () => this.call(toolCallId),
      ({ body }) => statuses.includes(body.status),
      withinMs,
    );
    return answer.body;
  }

  approval(approvalId: string): Promise<Answer<ApprovalRepresentation>> {
    return this.get(`/v1/approvals/${approvalId}`);
  }

  /** Reads the approval and decides on what it shows. */
  async decide(
    approvalId: string,
    decision: 'allow' | 'deny',
    more: object = {},
  ): Promise<Answer<ApprovalRepresentation>> {
    const shown = await this.approval(approvalId);
    return this.post(`/v1/approvals/${approvalId}/decision`, { decision, digest: shown.body.digest, ...more });
  }

  control<B = { readonly commandId: string; readonly status: string }>(body: object): Promise<Answer<B>> {
    return this.post('/v1/control', body);
  }

  command(commandId: string): Promise<Answer<CommandRepresentation>> {
    return this.get(`/v1/control/${encodeURIComponent(commandId)}`);
  }
}

/** The approval a proposal raised. */
export function approvalIdOf(answer: Answer<ToolCallRepresentation>): string {
  const { approval } = answer.body;
  if (approval === null || approval === undefined) throw new Error(`no approval: ${answer.text}`);
  return approval.approvalId;
}

/** Checks that an answer is the problem of this code as RFC 9457 and the list of errors say, and gives it. */
export function expectProblem(answer: Answer, code: ErrorCode): Problem {
  const problem = answer.body as Problem;
  const seen = { code: problem?.code, status: answer.status, type: answer.headers.get('content-type') };
  expect({ ...seen, text: answer.text }).toEqual({
    code,
    status: ERRORS[code].status,
    type: 'application/problem+json; charset=utf-8',
    text: answer.text,
  });
  expect(problem).toMatchObject({
    type: `urn:countersign:error:${code}`,
    status: answer.status,
    mend: ERRORS[code].mend,
  });
  expect(problem.detail).not.toBe('');
  return problem;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
