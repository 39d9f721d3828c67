import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import type { RunRepresentation } from '../client/contract/runs.js';
import type {
  AppendAnswer,
  FlushAnswer,
  ResumePacketRepresentation,
  SessionPage,
  SessionRepresentation,
} from '../client/contract/sessions.js';
import { Settings } from '../config/settings.js';
import { AppendEvents } from '../control/append-events/append-events.command.js';
import { AttachSession } from '../control/attach-session/attach-session.command.js';
import { DeleteSession } from '../control/delete-session/delete-session.command.js';
import { DetachSession } from '../control/detach-session/detach-session.command.js';
import { FlushSession } from '../control/flush-session/flush-session.command.js';
import { OpenSession } from '../control/open-session/open-session.command.js';
import { StartRun } from '../control/start-run/start-run.command.js';
import type { JsonObject } from '../domain/json/json-value.js';
import { AllowRoles, CurrentCaller } from '../identity/bearer.guard.js';
import type { Caller } from '../identity/caller.js';
import { GetRun, type RunView } from '../runtime/queries/run.queries.js';
import { Implements } from './openapi/operation.js';
import { readInput } from './read-input.js';
import { packetRepresentation } from './session-packet.js';
import { SessionReading } from './session-reading.js';
import {
  APPEND_EVENTS,
  ATTACH_SESSION,
  DELETE_SESSION,
  DETACH_SESSION,
  FLUSH_SESSION,
  GET_SESSION,
  LIST_SESSIONS,
  OPEN_SESSION,
  START_RUN,
} from './sessions.operations.js';

/** Durable sessions: who owns one, what is said in it, and what runs in it. */
@Controller('v1/sessions')
export class SessionsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly reading: SessionReading,
    private readonly settings: Settings,
  ) {}

  @Post()
  @AllowRoles('harness')
  @Implements(OPEN_SESSION)
  async open(
    @CurrentCaller() caller: Caller,
    @Body() input: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SessionRepresentation> {
    const { sessionId = null, metadata, harness, parent } = readInput(OPEN_SESSION.body, input);
    const command = new OpenSession(
      caller,
      sessionId,
      metadata as JsonObject,
      harnessOf(harness),
      parent === undefined ? null : defined(parent),
    );
    const opened = await this.commands.execute(command);
    void reply.code(201).header('location', `/v1/sessions/${encodeURIComponent(opened.sessionId)}`);
    return this.reading.show(caller, opened.sessionId);
  }

  @Get()
  @AllowRoles('harness', 'operator', 'auditor')
  @Implements(LIST_SESSIONS)
  list(@CurrentCaller() caller: Caller, @Query() query: unknown): Promise<SessionPage> {
    const { limit, cursor = null } = readInput(LIST_SESSIONS.query, query);
    const { pageMax } = this.settings.limits;
    return this.reading.list(caller, Math.min(limit ?? pageMax, pageMax), cursor);
  }

  @Get(':sessionId')
  @AllowRoles('harness', 'operator', 'auditor')
  @Implements(GET_SESSION)
  get(@CurrentCaller() caller: Caller, @Param('sessionId') sessionId: string): Promise<SessionRepresentation> {
    return this.reading.show(caller, sessionId);
  }

  @Delete(':sessionId')
  @AllowRoles('harness', 'operator')
  @Implements(DELETE_SESSION)
  async delete(@CurrentCaller() caller: Caller, @Param('sessionId') sessionId: string): Promise<SessionRepresentation> {
    await this.commands.execute(new DeleteSession(caller, sessionId));
    return this.reading.show(caller, sessionId);
  }

  @Post(':sessionId/attach')
  @HttpCode(200)
  @AllowRoles('harness')
  @Implements(ATTACH_SESSION)
  async attach(
    @CurrentCaller() caller: Caller,
    @Param('sessionId') sessionId: string,
    @Body() input: unknown,
  ): Promise<ResumePacketRepresentation> {
    const { harness } = readInput(ATTACH_SESSION.body, input);
    return packetRepresentation(await this.commands.execute(new AttachSession(caller, sessionId, harnessOf(harness))));
  }

  @Post(':sessionId/detach')
  @HttpCode(200)
  @AllowRoles('harness')
  @Implements(DETACH_SESSION)
  async detach(
    @CurrentCaller() caller: Caller,
    @Param('sessionId') sessionId: string,
    @Body() input: unknown,
  ): Promise<FlushAnswer> {
    const { ownerEpoch, reason } = readInput(DETACH_SESSION.body, input);
    const marks = await this.commands.execute(new DetachSession(caller, sessionId, ownerEpoch, reason));
    return { ...marks, durable: true };
  }

  @Post(':sessionId/events')
  @HttpCode(200)
  @AllowRoles('harness')
  @Implements(APPEND_EVENTS)
  async append(
    @CurrentCaller() caller: Caller,
    @Param('sessionId') sessionId: string,
    @Query() query: unknown,
    @Body() input: unknown,
  ): Promise<AppendAnswer> {
    const { durable } = readInput(APPEND_EVENTS.query, query);
    const { ownerEpoch, expectedSeq, events, atomic } = readInput(APPEND_EVENTS.body, input);
    const answer = await this.commands.execute(
      new AppendEvents(caller, sessionId, {
        ownerEpoch,
        expectedSeq,
        events: events.map(({ type, ...rest }) => ({ eventType: type, ...defined(rest) })),
        isAtomic: atomic,
        isDurable: durable === 'true',
      }),
    );
    return { ...answer, eventIds: [...answer.eventIds] };
  }

  @Post(':sessionId/flush')
  @HttpCode(200)
  @AllowRoles('harness')
  @Implements(FLUSH_SESSION)
  async flush(
    @CurrentCaller() caller: Caller,
    @Param('sessionId') sessionId: string,
    @Body() input: unknown,
  ): Promise<FlushAnswer> {
    readInput(FLUSH_SESSION.body, input);
    return { ...(await this.commands.execute(new FlushSession(caller, sessionId))), durable: true };
  }

  @Post(':sessionId/runs')
  @AllowRoles('harness')
  @Implements(START_RUN)
  async start(
    @CurrentCaller() caller: Caller,
    @Param('sessionId') sessionId: string,
    @Body() input: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RunRepresentation> {
    const { ownerEpoch, clientId, goalRef = null } = readInput(START_RUN.body, input);
    const { runId, started } = await this.commands.execute(
      new StartRun(caller, sessionId, ownerEpoch, clientId, goalRef),
    );
    void reply.code(started ? 201 : 200).header('location', `/v1/runs/${runId}`);
    const view = await this.queries.execute(new GetRun(caller, runId));
    return view as RunRepresentation & RunView;
  }
}

const harnessOf = ({ instanceId, version }: { instanceId: string; version?: string | undefined }) => ({
  instanceId,
  version: version ?? null,
});

/** The fields that were sent; an absent one is not the same as one without a value. */
function defined<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
