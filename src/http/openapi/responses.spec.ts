import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { Components } from './components.js';
import { ETAG } from './headers.js';
import { responsesOf } from './responses.js';

interface Shown {
  readonly description: string;
  readonly content: object;
  readonly headers?: Readonly<Record<string, { readonly required?: boolean }>>;
  readonly 'x-codes'?: readonly string[];
}

const shown = (...args: Parameters<typeof responsesOf>) => responsesOf(...args) as Readonly<Record<string, Shown>>;
const ready = { means: 'Ready or not.', body: z.boolean() };

describe('the responses of an operation', () => {
  it('are what it answers, and one problem for each status of its refusals with the codes sorted and once', () => {
    const refusals = ['run_not_found', 'internal', 'approval_not_found', 'run_not_found'] as const;
    const responses = shown({ 200: ready }, refusals, new Components({}));
    expect(Object.keys(responses)).toEqual(['200', '404', '500']);
    expect(responses['404']?.['x-codes']).toEqual(['approval_not_found', 'run_not_found']);
    expect(responses['404']?.description).toContain('`run_not_found`: Name a run');
    expect(Object.keys(responses['404']?.content ?? {})).toEqual(['application/problem+json']);
    expect(responses['200']?.['x-codes']).toBeUndefined();
  });

  it('say when to come again where the server does, and what to authenticate with', () => {
    const responses = shown({}, ['overloaded', 'rate_limited', 'unauthenticated', 'internal'], new Components({}));
    expect(Object.entries(responses).map(([status, { headers }]) => [status, Object.keys(headers ?? {})])).toEqual([
      ['401', ['WWW-Authenticate']],
      ['429', ['Retry-After']],
      ['500', []],
      ['503', ['Retry-After']],
    ]);
    expect(responses['503']?.headers?.['Retry-After']?.required).toBe(true);
  });

  it('tell an answer and a refusal of one status apart by their media type, and promise the headers of neither', () => {
    const responses = shown({ 503: { ...ready, headers: [ETAG] } }, ['shutting_down'], new Components({}));
    const { content, headers, description } = responses['503'] as Shown;
    expect(Object.keys(content)).toEqual(['application/json', 'application/problem+json']);
    expect(Object.values(headers ?? {}).map(({ required }) => required)).toEqual([undefined, undefined]);
    expect(description).toMatch(/^Ready or not\.[^]*`shutting_down`/);
  });
});
