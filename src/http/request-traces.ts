import { SpanKind, type SpanContext } from '@opentelemetry/api';
import {
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_HTTP_ROUTE,
} from '@opentelemetry/semantic-conventions';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { callTraceIds } from '../system/tracing/trace-context.js';
import type { Scope, Tracing } from '../system/tracing/tracing.js';
import { routeOf } from './request-metrics.js';

/**
 * A span for each request that came with a `traceparent` or has recorded something; what only reads and belongs to no
 * trace is not worth one. The request that proposes a call is the first span of the call's trace.
 */
export function traceRequestsOf(server: FastifyInstance, tracing: Tracing): void {
  const scopes = new WeakMap<FastifyRequest, { readonly scope: Scope; readonly startMs: number }>();
  server.addHook('onRequest', (request, _reply, done) => {
    const incoming = tracing.incoming(request.headers['traceparent']);
    const scope: Scope = { parent: null, toolCallId: null, hasProposed: false, incoming, waiting: [] };
    scopes.set(request, { scope, startMs: tracing.nowMs() });
    tracing.within(scope, done);
  });
  server.addHook('onResponse', (request, reply, done) => {
    const begun = scopes.get(request);
    if (begun !== undefined) end(tracing, request, reply, begun);
    done();
  });
}

function end(
  tracing: Tracing,
  request: FastifyRequest,
  reply: FastifyReply,
  { scope, startMs }: { readonly scope: Scope; readonly startMs: number },
): void {
  const { incoming, toolCallId } = scope;
  if (incoming === null && toolCallId === null) return;
  const context = contextOf(tracing, scope);
  const route = routeOf(request);
  const work = {
    name: `${request.method} ${route}`,
    kind: SpanKind.SERVER,
    startMs,
    tookMs: reply.elapsedTime,
    attributes: {
      [ATTR_HTTP_REQUEST_METHOD]: request.method,
      [ATTR_HTTP_ROUTE]: route,
      [ATTR_HTTP_RESPONSE_STATUS_CODE]: reply.statusCode,
      'countersign.request_id': request.id,
      ...(toolCallId === null ? {} : { 'countersign.tool_call_id': toolCallId }),
    },
    isError: reply.statusCode >= 500,
  };
  tracing.record(context, incoming, work, linksOf(tracing, scope));
  tracing.settle(scope, scope.parent ?? context);
}

function contextOf(tracing: Tracing, { incoming, toolCallId, hasProposed, parent }: Scope): SpanContext {
  if (hasProposed && toolCallId !== null && parent !== null) {
    return { ...parent, spanId: callTraceIds(toolCallId).requestSpanId };
  }
  return tracing.place(incoming);
}

/** To the call it was about; from a caller's trace also to the trace in which the call goes on after a restart. */
function linksOf(tracing: Tracing, { incoming, toolCallId, hasProposed }: Scope): readonly SpanContext[] {
  if (toolCallId === null) return [];
  if (!hasProposed) return [tracing.ofCall(toolCallId)];
  if (incoming === null) return [];
  const { traceId, callSpanId } = callTraceIds(toolCallId);
  return [{ traceId, spanId: callSpanId, traceFlags: incoming.traceFlags }];
}
