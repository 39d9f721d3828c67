import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JsonValue } from '../../domain/json/json-value.js';
import {
  classifyHttp,
  DEFAULT_DEFINITIVE_STATUS,
  type HttpObservation,
  type HttpRules,
  type Observation,
} from './classify-http.js';

function parseBody(bytes: Uint8Array): { ok: true; value: JsonValue } | { ok: false } {
  try {
    return { ok: true, value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as JsonValue };
  } catch {
    return { ok: false };
  }
}

const rules: HttpRules = {
  definitiveStatus: DEFAULT_DEFINITIVE_STATUS,
  rejectedBeforeExecutionStatus: [],
  validateOutput: null,
  parseBody,
};

const declared: HttpRules = {
  ...rules,
  validateOutput: (value) => (typeof value === 'object' && value !== null && 'id' in value ? null : 'id is missing'),
};

const withPending: HttpRules = { ...rules, pending: { status: [201, 202], referencePointer: '/job/id' } };

interface ResponseParts {
  readonly body?: string | Uint8Array;
  readonly headers?: Record<string, string>;
  readonly bodyTruncated?: boolean;
}

function answer(status: number, parts: ResponseParts = {}): HttpObservation {
  const { body = '', headers = {}, bodyTruncated = false } = parts;
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  return { kind: 'response', status, headers, body: bytes, bodyTruncated };
}

function silence(cause: string, bytesWritten: boolean): HttpObservation {
  return { kind: 'no_response', cause, evidence: { bytesWritten } };
}

function classOf(observation: HttpObservation, by: HttpRules = rules): Observation['class'] {
  return classifyHttp(observation, by).class;
}

describe('classifyHttp without a response', () => {
  const causes = ['not_sent_deadline', 'connect_failed', 'tls_failed', 'reset', 'timeout', 'aborted', 'bad_framing'];

  it.each(causes)('calls %s not sent when no byte was written', (cause) => {
    expect(classifyHttp(silence(cause, false), rules)).toEqual({ class: 'not_sent', cause });
  });

  it.each(causes)('calls %s unknown as soon as a byte may have been written', (cause) => {
    expect(classifyHttp(silence(cause, true), rules)).toEqual({ class: 'unknown', cause });
  });
});

describe('classifyHttp by status', () => {
  it.each([400, 401, 403, 404, 405, 410, 422])('takes %i for a rejection', (status) => {
    expect(classifyHttp(answer(status, { body: 'anything' }), rules)).toEqual({ class: 'rejected', status });
  });

  it.each([408, 409, 425, 429, 500, 502, 503, 504])(
    'learns nothing from %i unless the manifest declares it',
    (status) => {
      expect(classifyHttp(answer(status), rules)).toEqual({ class: 'unknown', cause: 'status_not_definitive', status });
      const declaring = { ...rules, rejectedBeforeExecutionStatus: [status] };
      expect(classifyHttp(answer(status), declaring)).toEqual({ class: 'rejected', status });
    },
  );

  it.each([402, 406, 418, 499])('learns nothing from %i, which the default does not list', (status) => {
    expect(classOf(answer(status))).toBe('unknown');
    expect(classOf(answer(status), { ...rules, definitiveStatus: [status] })).toBe('rejected');
  });

  it('forgets the default when the manifest lists its own', () => {
    expect(classOf(answer(404), { ...rules, definitiveStatus: [400] })).toBe('unknown');
  });

  it.each([300, 301, 302, 303, 304, 307, 308])('learns nothing from the redirect %i', (status) => {
    expect(classifyHttp(answer(status, { headers: { location: '/x' } }), rules)).toEqual({
      class: 'unknown',
      cause: 'redirect',
      status,
    });
  });

  it('never takes a status below 400 for a rejection, whatever the rules list', () => {
    const careless = {
      ...rules,
      definitiveStatus: [101, 200, 202, 302],
      rejectedBeforeExecutionStatus: [101, 200, 202, 302],
    };
    for (const status of [101, 200, 202, 302]) expect(classOf(answer(status), careless)).not.toBe('rejected');
  });
});

function throwing(): never {
  throw new RangeError('Maximum call stack size exceeded');
}

describe('classifyHttp of a success', () => {
  it('is completed with the JSON of a valid body', () => {
    expect(classifyHttp(answer(200, { body: '{"id":"r1"}' }), declared)).toEqual({
      class: 'completed',
      output: { id: 'r1' },
      status: 200,
      truncated: false,
    });
  });

  it('is unknown when the body does not satisfy the declared output', () => {
    const invalid = { class: 'unknown', cause: 'output_invalid', status: 200 };
    expect(classifyHttp(answer(200, { body: '{"ok":true}' }), declared)).toEqual(invalid);
    expect(classifyHttp(answer(200), declared)).toEqual(invalid);
    expect(classifyHttp(answer(204), declared)).toEqual({ ...invalid, status: 204 });
  });

  it('is completed with null when the body is empty and nothing or null is declared', () => {
    expect(classifyHttp(answer(204), rules)).toMatchObject({ class: 'completed', output: null });
    const nullDeclared = { ...rules, validateOutput: (value: JsonValue) => (value === null ? null : 'not null') };
    expect(classOf(answer(200), nullDeclared)).toBe('completed');
  });

  it('is unknown when a declared output cannot be read', () => {
    for (const body of ['{"id":"r1"', 'OK', new Uint8Array([0xff, 0xfe])]) {
      expect(classifyHttp(answer(200, { body }), declared)).toMatchObject({
        class: 'unknown',
        cause: 'output_unreadable',
      });
    }
  });

  it('is unknown, not lost, when the parser or the validator itself fails', () => {
    expect(classOf(answer(200, { body: '{}' }), { ...declared, parseBody: throwing })).toBe('unknown');
    expect(classOf(answer(200, { body: '{}' }), { ...declared, validateOutput: throwing })).toBe('unknown');
  });
});

describe('classifyHttp of work that goes on', () => {
  it('is accepted with the reference that the declared pointer names', () => {
    for (const status of [201, 202]) {
      expect(classifyHttp(answer(status, { body: '{"job":{"id":"j-7"}}' }), withPending)).toEqual({
        class: 'accepted',
        externalRequestId: 'j-7',
        status,
      });
    }
    expect(classifyHttp(answer(202, { body: '{"job":{"id":42}}' }), withPending)).toMatchObject({
      externalRequestId: '42',
    });
  });

  it.each([
    ['no body', {}],
    ['no such member', { body: '{"job":{}}' }],
    ['an empty reference', { body: '{"job":{"id":""}}' }],
    ['a reference that is an object', { body: '{"job":{"id":{}}}' }],
    ['a reference that is no whole number', { body: '{"job":{"id":1.5}}' }],
    ['a reference without end', { body: `{"job":{"id":"${'x'.repeat(600)}"}}` }],
    ['half a body', { body: '{"job":{"id":"j-7"' }],
    ['a truncated body', { body: '{"job":{"id":"j-7"}}', bodyTruncated: true }],
    ['an encoded body', { body: '{"job":{"id":"j-7"}}', headers: { 'content-encoding': 'br' } }],
  ])('is unknown with %s', (_case, parts) => {
    for (const status of [201, 202]) {
      expect(classifyHttp(answer(status, parts), withPending)).toEqual({
        class: 'unknown',
        cause: 'accepted_without_reference',
        status,
      });
    }
  });

  it('is unknown for 202 when the manifest does not say where the reference is', () => {
    expect(classOf(answer(202, { body: '{"id":"j-7"}' }))).toBe('unknown');
    expect(
      classOf(answer(202, { body: '{"id":"j-7"}' }), {
        ...rules,
        pending: { status: [], referencePointer: 'no pointer' },
      }),
    ).toBe('unknown');
  });

  it('is completed for another success that is not declared as pending', () => {
    expect(classOf(answer(200, { body: '{"job":{"id":"j-7"}}' }), withPending)).toBe('completed');
  });
});

describe('classifyHttp over everything', () => {
  const anyAnswer = fc
    .record({
      status: fc.integer({ min: 100, max: 599 }),
      body: fc.oneof(fc.json(), fc.string(), fc.constant('')),
      bodyTruncated: fc.boolean(),
    })
    .map(({ status, ...parts }) => answer(status, parts));

  it('claims an effect only for 2xx and its absence only for a listed 4xx', () => {
    fc.assert(
      fc.property(anyAnswer, fc.constantFrom(rules, declared, withPending), (observation, by) => {
        const { class: found } = classifyHttp(observation, by);
        const status = observation.kind === 'response' ? observation.status : 0;
        const possible: Observation['class'][] = ['unknown'];
        if (status >= 200 && status < 300) possible.push('completed', 'accepted');
        if (DEFAULT_DEFINITIVE_STATUS.includes(status)) possible.push('rejected');
        expect(possible).toContain(found);
      }),
    );
  });
});
