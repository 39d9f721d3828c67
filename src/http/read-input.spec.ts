import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { decisionBody } from '../client/contract/approvals.js';
import { controlBody } from '../client/contract/control.js';
import { proposeToolCallBody, resolutionBody } from '../client/contract/tool-calls.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { readInput } from './read-input.js';

function refusal(schema: z.ZodType, input: unknown): CountersignError {
  try {
    readInput(schema, input);
  } catch (error) {
    if (error instanceof CountersignError && error.code === 'invalid_request') return error;
    throw error;
  }
  throw new Error('it was read');
}

describe('reading what a client sent', () => {
  it('answers what fits, as the schema reads it', () => {
    const body = { capability: 'refund.create', arguments: { orderId: 'o-1' }, allowDuplicateIntent: true };
    expect(readInput(proposeToolCallBody, body)).toEqual(body);
  });

  it('takes no body for an empty one', () => {
    expect(readInput(z.strictObject({ a: z.string().optional() }), undefined)).toEqual({});
    expect(refusal(proposeToolCallBody, undefined).details.problems).toHaveLength(2);
  });

  it('names every wrong field by its pointer and puts the first in front', () => {
    const { details } = refusal(proposeToolCallBody, { capability: 7, arguments: 'x', runId: '' });
    expect(details.pointer).toBe('/capability');
    expect(details.problems).toEqual([
      '/capability: must be string',
      expect.stringMatching(/^\/arguments: must be (record|object)$/),
      expect.stringMatching(/^\/runId: /),
    ]);
  });

  it('refuses unknown fields by name, escaped as a pointer', () => {
    const body = { capability: 'a', arguments: {}, 'a/b~c': 1 };
    expect(refusal(proposeToolCallBody, body).details.problems).toEqual(['/a~1b~0c: unknown field']);
  });

  it('lists the words that may stand where another stood', () => {
    const digest = `sha256:${'a'.repeat(64)}`;
    expect(refusal(decisionBody, { decision: 'maybe', digest }).details.problems).toEqual([
      '/decision: must be one of allow, deny',
    ]);
  });

  it.each([
    ['a body that is text', decisionBody, 'hunter2'],
    ['a list', decisionBody, ['hunter2']],
    ['a digest of another form', decisionBody, { decision: 'allow', digest: 'hunter2' }],
    ['an unknown command', controlBody, { type: 'hunter2' }],
    ['an unknown target', controlBody, { type: 'pause', target: 'hunter2' }],
    ['an unknown finding', resolutionBody, { finding: 'hunter2', evidenceRefs: [] }],
    ['a time without an offset', proposeToolCallBody, { capability: 'a', arguments: {}, executeBefore: 'hunter2' }],
  ])('refuses %s without repeating it', (_, schema, input) => {
    const error = refusal(schema, input);
    expect(JSON.stringify([error.message, error.details])).not.toContain('hunter2');
    expect(error.details.problems?.length).toBeGreaterThan(0);
  });
});
