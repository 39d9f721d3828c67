import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Problem } from '../client/contract/problem.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { ERRORS, type ErrorCode } from '../domain/errors/error-codes.js';
import { Logger, errorName } from '../system/logger.js';
import { RefusalLog } from './refusal-log.js';

/** Seconds after which a refused request may be tried again, where the error names none. */
const RETRY_AFTER_SECONDS = 1;

/** What Fastify and Nest say about a request that never reached a handler, as our codes. */
const FRAMEWORK_CODES: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'invalid_request',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'invalid_json',
  FST_ERR_MAX_PARAM_LENGTH: 'not_found',
  FST_ERR_BAD_URL: 'not_found',
};

const STATUS_CODES: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid_request',
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
};

/** RFC 9457 for everything that goes wrong: a stable code, how to mend it, and nothing of the request's values. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(
    private readonly logger: Logger,
    private readonly refusals: RefusalLog,
  ) {}

  catch(exception: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const error = asCountersignError(exception);
    const route = request.routeOptions?.url ?? null;
    if (error.code === 'internal') {
      this.logger.error('request failed', { error: errorName(exception), route, requestId: request.id });
    }
    if (error.code === 'unauthenticated') this.refusals.note(route);
    if (reply.sent) return;
    const problem = problemOf(error);
    if (problem.status === 503 || problem.status === 429) {
      void reply.header('retry-after', String(error.details.retryAfterSeconds ?? RETRY_AFTER_SECONDS));
    }
    if (problem.status === 401) void reply.header('www-authenticate', 'Bearer');
    void reply.code(problem.status).type(PROBLEM_TYPE).send(JSON.stringify(problem));
  }
}

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** Whatever was thrown, as a problem. */
export function problemFor(exception: unknown): Problem {
  return problemOf(asCountersignError(exception));
}

export function problemOf(error: CountersignError): Problem {
  const { status, mend } = ERRORS[error.code];
  const { pointer, problems, toolCallId, approvalId, leaseId, commandId, recordedDecision } = error.details;
  return {
    type: `urn:countersign:error:${error.code}`,
    title: error.code.replaceAll('_', ' '),
    status,
    code: error.code,
    detail: error.message,
    mend,
    ...(pointer === undefined ? {} : { pointer }),
    ...(problems === undefined ? {} : { problems: [...problems] }),
    ...(toolCallId === undefined ? {} : { toolCallId }),
    ...(approvalId === undefined ? {} : { approvalId }),
    ...(leaseId === undefined ? {} : { leaseId }),
    ...(commandId === undefined ? {} : { commandId }),
    ...(recordedDecision === undefined ? {} : { recordedDecision }),
  };
}

function asCountersignError(exception: unknown): CountersignError {
  if (exception instanceof CountersignError) return exception;
  const code: unknown = (exception as { code?: unknown } | null)?.code;
  if (typeof code === 'string' && FRAMEWORK_CODES[code] !== undefined) {
    return new CountersignError(FRAMEWORK_CODES[code], ERRORS[FRAMEWORK_CODES[code]].mend);
  }
  const status =
    exception instanceof HttpException
      ? exception.getStatus()
      : (exception as { statusCode?: unknown } | null)?.statusCode;
  const known = typeof status === 'number' ? STATUS_CODES[status] : undefined;
  if (known !== undefined) return new CountersignError(known, ERRORS[known].mend);
  return new CountersignError('internal', 'the request failed');
}
