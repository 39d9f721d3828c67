import { ManualClock } from '../../test/builders/manual-clock.js';
import { Metrics } from '../system/metrics/metrics.js';
import { RefusalLog } from './refusal-log.js';
import { describe, expect, it } from '@jest/globals';
import {
  ForbiddenException,
  HttpException,
  MethodNotAllowedException,
  NotFoundException,
  type ArgumentsHost,
} from '@nestjs/common';
import { KeptLog } from '../../test/builders/installation.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { ERRORS, type ErrorCode } from '../domain/errors/error-codes.js';
import { ProblemFilter, problemOf } from './problem.filter.js';

interface Answer {
  status: number | null;
  headers: Record<string, string>;
  body: Record<string, unknown> | null;
  logged: KeptLog['lines'];
}

function answerTo(exception: unknown, sent = false): Answer {
  const log = new KeptLog();
  const answer: Answer = { status: null, headers: {}, body: null, logged: log.lines };
  const reply = {
    sent,
    header: (name: string, value: string) => ((answer.headers[name] = value), reply),
    code: (status: number) => ((answer.status = status), reply),
    type: (type: string) => ((answer.headers['content-type'] = type), reply),
    send: (text: string) => ((answer.body = JSON.parse(text) as Record<string, unknown>), reply),
  };
  const host = {
    switchToHttp: () => ({
      getRequest: () => ({ routeOptions: { url: '/v1/tool-calls' } }),
      getResponse: () => reply,
    }),
  };
  new ProblemFilter(log, new RefusalLog(new ManualClock('2031-01-01T00:00:00Z'), log, new Metrics())).catch(
    exception,
    host as unknown as ArgumentsHost,
  );
  return answer;
}

const CODES = Object.keys(ERRORS) as ErrorCode[];

describe('an error that a client meets', () => {
  it.each(CODES)('%s has its status and says how to mend it', (code) => {
    const { status, headers, body } = answerTo(new CountersignError(code, 'what happened'));
    expect(status).toBe(ERRORS[code].status);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(headers['content-type']).toBe('application/problem+json; charset=utf-8');
    expect(body).toEqual({
      type: `urn:countersign:error:${code}`,
      title: code.replaceAll('_', ' '),
      status,
      code,
      detail: 'what happened',
      mend: expect.stringMatching(/^[A-Z].*\.$/),
    });
  });

  it('carries what belongs to it and nothing that is not there', () => {
    const details = {
      pointer: '/a',
      problems: ['/a: x'],
      toolCallId: 'call_1',
      approvalId: 'apr_1',
      commandId: 'cmd_1',
      recordedDecision: 'granted',
    };
    expect(problemOf(new CountersignError('version_stale', 'x', details))).toMatchObject(details);
    expect(Object.keys(problemOf(new CountersignError('version_stale', 'x')))).toHaveLength(6);
  });

  it.each(CODES.filter((code) => [429, 503].includes(ERRORS[code].status)))('%s says when to come again', (code) => {
    expect(answerTo(new CountersignError(code, 'x')).headers['retry-after']).toBe('1');
    const later = new CountersignError(code, 'x', { retryAfterSeconds: 10 });
    expect(answerTo(later).headers['retry-after']).toBe('10');
    expect(answerTo(later).body).not.toHaveProperty('retryAfterSeconds');
  });

  it('of authentication names the scheme', () => {
    expect(answerTo(new CountersignError('unauthenticated', 'x')).headers['www-authenticate']).toBe('Bearer');
    expect(answerTo(new CountersignError('not_authorized', 'x')).headers).not.toHaveProperty('www-authenticate');
  });

  it('is not answered twice', () => {
    expect(answerTo(new CountersignError('not_found', 'x'), true)).toMatchObject({ status: null, body: null });
  });
});

describe('an error of the framework', () => {
  const coded = (code: string, statusCode = 400): Error => Object.assign(new Error('hunter2'), { code, statusCode });

  it.each([
    [coded('FST_ERR_CTP_BODY_TOO_LARGE', 413), 'payload_too_large'],
    [coded('FST_ERR_CTP_INVALID_MEDIA_TYPE', 415), 'unsupported_media_type'],
    [coded('FST_ERR_CTP_INVALID_CONTENT_LENGTH'), 'invalid_request'],
    [coded('FST_ERR_CTP_EMPTY_JSON_BODY'), 'invalid_json'],
    [coded('FST_ERR_MAX_PARAM_LENGTH', 414), 'not_found'],
    [coded('FST_ERR_BAD_URL'), 'not_found'],
    [coded('FST_ERR_OF_TOMORROW'), 'invalid_request'],
    [new NotFoundException('hunter2'), 'not_found'],
    [new MethodNotAllowedException('hunter2'), 'method_not_allowed'],
    [new HttpException('hunter2', 400), 'invalid_request'],
  ])('%s becomes %s, in our words', (exception, code) => {
    const { status, body, logged } = answerTo(exception);
    expect(body).toMatchObject({ code, status: ERRORS[code as ErrorCode].status });
    expect(status).toBe(ERRORS[code as ErrorCode].status);
    expect(JSON.stringify(body)).not.toContain('hunter2');
    expect(logged).toEqual([]);
  });

  it.each([
    new Error('hunter2'),
    new TypeError('hunter2'),
    'hunter2',
    null,
    undefined,
    7,
    { statusCode: 'x' },
    new ForbiddenException('hunter2'),
  ])('%p is internal: logged by its name and answered without its text', (exception) => {
    const { status, body, logged } = answerTo(exception);
    expect(status).toBe(500);
    expect(body).toMatchObject({ code: 'internal', detail: 'the request failed' });
    expect(logged).toHaveLength(1);
    expect(logged[0]?.fields).toMatchObject({ route: '/v1/tool-calls' });
    expect(JSON.stringify([body, logged])).not.toContain('hunter2');
  });
});
