import { SpanKind, type Attributes } from '@opentelemetry/api';
import {
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_SERVER_ADDRESS,
} from '@opentelemetry/semantic-conventions';
import type { HttpClient } from '../../egress/http-client.js';
import type { OutboundRequest, OutboundResult } from '../../egress/outbound-request.js';
import type { PolicyDecision } from '../../policy/core/policy-types.js';
import type { PolicyService } from '../../policy/policy.service.js';
import type { Store } from '../../storage/store.js';
import type { Unit } from '../../storage/unit.js';
import type { Tracing, Work } from '../../system/tracing/tracing.js';
import type { Dispatcher } from '../executor/dispatcher.js';
import type { Attempt } from '../executor/attempt.js';
import type { Reconciliation } from '../reconcile/reconciliation.js';
import { STATUS_AFTER } from './call-metrics.js';

/** The parts of a running product in whose work a trace is interested. */
export interface TracedParts {
  readonly store: Store;
  readonly policy: PolicyService;
  readonly http: HttpClient;
  readonly dispatcher: Dispatcher;
  readonly attempt: Attempt;
  readonly reconciliation: Reconciliation;
}

/**
 * Puts spans around the parts of a running product, from outside: a product that does not trace runs exactly the code it
 * runs without this file.
 */
export function traceWork(tracing: Tracing, parts: TracedParts, propagate: boolean): void {
  traceCalls(tracing, parts.dispatcher, 'dispatch', 'dispatch');
  traceCalls(tracing, parts.attempt, 'run', 'attempt');
  traceCalls(tracing, parts.reconciliation, 'step', 'look-up');
  traceCommits(tracing, parts.store);
  tracePolicy(tracing, parts.policy);
  traceRequests(tracing, parts.http, propagate);
}

type OnCall<R> = (tenant: string, toolCallId: string) => Promise<R>;

/** Work on one call gets a span of its own, and everything below it becomes a child of that. */
function traceCalls<M extends string, R>(tracing: Tracing, part: Record<M, OnCall<R>>, method: M, name: string): void {
  const work: OnCall<R> = part[method].bind(part);
  part[method] = (tenant, toolCallId) => tracing.inSpan(name, toolCallId, () => work(tenant, toolCallId));
}

function traceCommits(tracing: Tracing, store: Store): void {
  const commit = store.commit.bind(store);
  store.commit = async (unit) => {
    const scope = tracing.scope();
    const call = unit.appends.find(({ stream }) => stream.kind === 'call');
    const toolCallId = call?.stream.id ?? null;
    const isNew = scope !== undefined && call?.expectedVersion === 0;
    if (isNew) tracing.adopt(scope, call.stream.id);
    else if (scope !== undefined) scope.toolCallId ??= toolCallId;
    const timer = begin(tracing);
    let isDurable = false;
    try {
      const committed = await commit(unit);
      isDurable = true;
      return committed;
    } finally {
      const work = timer.end(nameOf(unit), unitAttributes(unit, toolCallId), !isDurable);
      if (toolCallId === null) tracing.note(scope, work);
      else {
        const parent = scope?.toolCallId === toolCallId ? scope.parent : null;
        tracing.recordBelow(parent ?? tracing.ofCall(toolCallId), work);
      }
      if (isNew && !isDurable) tracing.disown(scope, call.stream.id);
    }
  };
}

function tracePolicy(tracing: Tracing, policy: PolicyService): void {
  const decide = policy.decide.bind(policy);
  policy.decide = async (request) => {
    const scope = tracing.scope();
    if (scope === undefined) return decide(request);
    const timer = begin(tracing);
    const decision = await decide(request);
    tracing.note(
      scope,
      timer.end('policy evaluation', policyAttributes(decision), decision.denyCode === 'engine_error'),
    );
    return decision;
  };
}

/** What leaves for a tool says where it stands in the trace; what leaves for anything else says nothing. */
function traceRequests(tracing: Tracing, http: HttpClient, propagate: boolean): void {
  const send = http.send.bind(http);
  http.send = async (request) => {
    const scope = tracing.scope();
    const parent = scope?.parent ?? null;
    if (parent === null) return send(request);
    const context = tracing.place(parent);
    const timer = begin(tracing);
    const result = await send(propagate ? { ...request, traceparent: tracing.traceparent(context) } : request);
    const work = timer.end(request.method, requestAttributes(request, result), isUnanswered(result));
    tracing.record(context, parent, { ...work, kind: SpanKind.CLIENT });
    return result;
  };
}

function begin(tracing: Tracing): { end(name: string, attributes: Attributes, isError: boolean): Work } {
  const [startMs, begunMs] = [tracing.nowMs(), performance.now()];
  return {
    end: (name, attributes, isError) => ({ name, startMs, tookMs: performance.now() - begunMs, attributes, isError }),
  };
}

const ENDS: readonly string[] = ['completed', 'failed', 'result_unknown', 'manual_handoff', 'denied', 'not_executed'];

function typesOf(unit: Unit): readonly string[] {
  return unit.appends.flatMap(({ events }) => events.map(({ type }) => type));
}

/** The commit that says how an attempt ended has a name of its own. */
function nameOf(unit: Unit): string {
  const ends = unit.appends.some(({ events }) => events.some(({ type }) => ENDS.includes(STATUS_AFTER[type] ?? '')));
  return ends ? 'settle' : 'commit';
}

function unitAttributes(unit: Unit, toolCallId: string | null): Attributes {
  return {
    'countersign.unit_id': unit.unitId,
    'countersign.lane': unit.lane,
    'countersign.events': typesOf(unit).join(' '),
    ...(toolCallId === null ? {} : { 'countersign.tool_call_id': toolCallId }),
  };
}

function policyAttributes(decision: PolicyDecision): Attributes {
  return {
    'countersign.policy.outcome': decision.outcome,
    'countersign.policy.revision': decision.policyRevision,
    ...(decision.denyCode === null ? {} : { 'countersign.policy.deny_code': decision.denyCode }),
  };
}

/** Neither path nor query, which hold arguments. */
function requestAttributes({ method, url }: OutboundRequest, result: OutboundResult): Attributes {
  return {
    [ATTR_HTTP_REQUEST_METHOD]: method,
    ...(URL.canParse(url) ? { [ATTR_SERVER_ADDRESS]: new URL(url).hostname } : {}),
    ...(result.kind === 'response'
      ? { [ATTR_HTTP_RESPONSE_STATUS_CODE]: result.status }
      : { [ATTR_ERROR_TYPE]: result.cause }),
    'countersign.bytes_written': result.evidence.bytesWritten,
  };
}

const isUnanswered = (result: OutboundResult): boolean => result.kind !== 'response' || result.status >= 400;
