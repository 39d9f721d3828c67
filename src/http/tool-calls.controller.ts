import { Body, Controller, Get, Headers, Param, Post, Query, Req, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ToolCallPage, ToolCallRepresentation } from '../client/contract/tool-calls.js';
import { Settings } from '../config/settings.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import type { JsonObject } from '../domain/json/json-value.js';
import { checkCallerLabel } from '../domain/ids/caller-names.js';
import { principalKey } from '../domain/principal.js';
import { isTerminal, type ToolCallStatus } from '../domain/tool-call/tool-call.state.js';
import { AllowRoles, CurrentCaller } from '../identity/bearer.guard.js';
import { ROLES, type Caller } from '../identity/caller.js';
import { CompensateToolCall } from '../control/compensate-tool-call/compensate-tool-call.command.js';
import { ProposeToolCall } from '../control/propose-tool-call/propose-tool-call.command.js';
import { ResolveHandoff } from '../control/resolve-handoff/resolve-handoff.command.js';
import { GetToolCall, ListToolCalls } from '../runtime/queries/tool-call.queries.js';
import type { ToolCallView } from '../runtime/views/tool-call.view.js';
import { readHeaders, type SentHeaders } from './openapi/headers.js';
import { Implements } from './openapi/operation.js';
import { preferredWaitMs, waitMsFrom } from './prefer.js';
import { readInput } from './read-input.js';
import { toUtc } from './timestamps.js';
import {
  COMPENSATE_TOOL_CALL,
  GET_TOOL_CALL,
  LIST_TOOL_CALLS,
  PROPOSE_TOOL_CALL,
  RESOLVE_TOOL_CALL,
} from './tool-calls.operations.js';

const NEEDS_RECONCILIATION: readonly ToolCallStatus[] = ['result_unknown', 'reconciling', 'manual_handoff'];

@Controller('v1/tool-calls')
export class ToolCallsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly settings: Settings,
  ) {}

  @Post()
  @AllowRoles('harness')
  @Implements(PROPOSE_TOOL_CALL)
  async propose(
    @CurrentCaller() caller: Caller,
    @Body() input: unknown,
    @Headers() sent: SentHeaders,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ToolCallRepresentation> {
    const body = readInput(PROPOSE_TOOL_CALL.body, input);
    const headers = readHeaders(PROPOSE_TOOL_CALL.headers, sent);
    const waitMs = preferredWaitMs(headers['prefer'], this.settings.http.waitMsMax);
    const proposed = await this.commands.execute(
      new ProposeToolCall(caller, {
        capability: body.capability,
        arguments: body.arguments as JsonObject,
        idempotencyKey: oneKey(headers['idempotency-key'], body.idempotencyKey),
        runId: body.runId ?? null,
        runLabel: runLabel(headers['run-id']),
        turnId: body.turnId ?? null,
        callId: body.callId ?? null,
        reasoningObjectId: body.reasoningObjectId ?? null,
        skillId: body.skillId ?? null,
        intentId: body.intentId ?? null,
        allowDuplicateIntent: body.allowDuplicateIntent ?? false,
        reason: body.reason ?? null,
        executeBefore: body.executeBefore === undefined ? null : toUtc(body.executeBefore),
      }),
    );
    if (proposed.replayed) void reply.header('idempotent-replayed', 'true');
    if (waitMs > 0) void reply.header('preference-applied', `wait=${Math.ceil(waitMs / 1000)}`);
    void reply.header('location', `/v1/tool-calls/${proposed.toolCallId}`);
    return this.show(caller, proposed.toolCallId, waitMs, request, reply);
  }

  @Get(':toolCallId')
  @AllowRoles('harness', 'operator', 'auditor')
  @Implements(GET_TOOL_CALL)
  async get(
    @CurrentCaller() caller: Caller,
    @Param('toolCallId') toolCallId: string,
    @Query() query: unknown,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ToolCallRepresentation> {
    const { wait } = readInput(GET_TOOL_CALL.query, query);
    return this.show(caller, toolCallId, waitMsFrom(wait, this.settings.http.waitMsMax), request, reply);
  }

  @Get()
  @AllowRoles('operator', 'auditor')
  @Implements(LIST_TOOL_CALLS)
  async list(@CurrentCaller() caller: Caller, @Query() query: unknown): Promise<ToolCallPage> {
    const filter = readInput(LIST_TOOL_CALLS.query, query);
    const { items, nextCursor } = await this.queries.execute(
      new ListToolCalls(caller, {
        statuses:
          filter.status === undefined || filter.status === 'contradicted'
            ? null
            : filter.status === 'needs-reconciliation'
              ? NEEDS_RECONCILIATION
              : [filter.status],
        unresolvedOnly: filter.status === 'needs-reconciliation',
        contradictedOnly: filter.status === 'contradicted',
        runId: filter.runId ?? null,
        capability: filter.capability ?? null,
        principal: principalFilter(filter.principal, filter.agent),
        from: filter.from === undefined ? null : toUtc(filter.from),
        to: filter.to === undefined ? null : toUtc(filter.to),
        limit: Math.min(filter.limit ?? this.settings.limits.pageMax, this.settings.limits.pageMax),
        cursor: filter.cursor ?? null,
      }),
    );
    return { items: items.map(represent), nextCursor };
  }

  @Post(':toolCallId/resolution')
  @AllowRoles(...ROLES)
  @Implements(RESOLVE_TOOL_CALL)
  async resolve(
    @CurrentCaller() caller: Caller,
    @Param('toolCallId') toolCallId: string,
    @Body() input: unknown,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ToolCallRepresentation> {
    const body = readInput(RESOLVE_TOOL_CALL.body, input);
    await this.commands.execute(
      new ResolveHandoff(
        caller,
        toolCallId,
        { finding: body.finding, evidenceRefs: body.evidenceRefs, note: body.note ?? null },
        body.commandId ?? null,
      ),
    );
    return this.show(caller, toolCallId, 0, request, reply);
  }

  /** The answer is the compensating call: as judged, waiting or done as any other. */
  @Post(':toolCallId/compensation')
  @AllowRoles('harness', 'operator')
  @Implements(COMPENSATE_TOOL_CALL)
  async compensate(
    @CurrentCaller() caller: Caller,
    @Param('toolCallId') toolCallId: string,
    @Body() input: unknown,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ToolCallRepresentation> {
    const body = readInput(COMPENSATE_TOOL_CALL.body, input);
    const proposed = await this.commands.execute(new CompensateToolCall(caller, toolCallId, body.reason ?? null));
    if (proposed.replayed) void reply.header('idempotent-replayed', 'true');
    void reply.header('location', `/v1/tool-calls/${proposed.toolCallId}`);
    return this.show(caller, proposed.toolCallId, 0, request, reply);
  }

  private async show(
    caller: Caller,
    toolCallId: string,
    waitMs: number,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<ToolCallRepresentation> {
    const gone = new AbortController();
    const onClose = (): void => gone.abort();
    request.raw.socket.once('close', onClose);
    try {
      const view = await this.queries.execute(new GetToolCall(caller, toolCallId, waitMs, gone.signal));
      void reply.code(isTerminal(view.status) ? 200 : 202);
      return represent(view);
    } finally {
      request.raw.socket.off('close', onClose);
    }
  }
}

/** The view is the representation; the compiler holds the two together. */
const represent = (view: ToolCallView): ToolCallRepresentation => view as ToolCallRepresentation & ToolCallView;

/** The key may come as a header or in the body; when it comes as both they must agree. */
function oneKey(header: string | undefined, body: string | undefined): string | null {
  if (header !== undefined && body !== undefined && header !== body) {
    throw new CountersignError('invalid_request', 'the Idempotency-Key header and idempotencyKey differ', {
      pointer: '/idempotencyKey',
    });
  }
  return header ?? body ?? null;
}

function principalFilter(sub: string | undefined, agent: string | undefined): string | null {
  if (sub === undefined) {
    if (agent === undefined) return null;
    throw new CountersignError('invalid_request', 'agent needs principal beside it', { pointer: '/agent' });
  }
  return principalKey(agent === undefined ? { sub } : { sub, act: agent });
}

function runLabel(header: string | undefined): string | null {
  if (header === undefined) return null;
  if (checkCallerLabel(header) !== null) {
    throw new CountersignError('invalid_run_label', 'the Run-Id header is not usable');
  }
  return header;
}
