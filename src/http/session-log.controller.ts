import { Body, Controller, Get, Headers, HttpCode, Param, Post, Put, Query, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import type { InspectAnswer, StateRepresentation } from '../client/contract/sessions.js';
import { Settings } from '../config/settings.js';
import { MarkSession } from '../control/mark-session/mark-session.command.js';
import { SaveState } from '../control/save-state/save-state.command.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { AllowRoles, CurrentCaller } from '../identity/bearer.guard.js';
import type { Caller } from '../identity/caller.js';
import { Logger, errorName } from '../system/logger.js';
import { EventStreamWriter } from './event-stream.js';
import { lastSeen, wantsStream } from './event-stream-request.js';
import { readHeaders, type SentHeaders } from './openapi/headers.js';
import { Implements } from './openapi/operation.js';
import { readInput } from './read-input.js';
import { savedRepresentation, SessionReading } from './session-reading.js';
import {
  GET_STATE,
  INSPECT_SESSION,
  MARK_NOT_RESUMABLE,
  READ_RAW_SESSION,
  READ_SESSION_EVENTS,
  SAVE_STATE,
} from './sessions.operations.js';

/** What a session has on disk, and what that adds up to. */
@Controller('v1/sessions/:sessionId')
export class SessionLogController {
  constructor(
    private readonly commands: CommandBus,
    private readonly reading: SessionReading,
    private readonly settings: Settings,
    private readonly logger: Logger,
  ) {}

  @Get('events')
  @AllowRoles('harness', 'operator', 'auditor')
  @Implements(READ_SESSION_EVENTS)
  async events(
    @CurrentCaller() caller: Caller,
    @Param('sessionId') sessionId: string,
    @Query() query: unknown,
    @Headers() sent: SentHeaders,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { fromSeq = 0, limit } = readInput(READ_SESSION_EVENTS.query, query);
    if (wantsStream(sent['accept'])) {
      if (limit !== undefined) {
        throw new CountersignError('invalid_request', 'a stream has no limit', { pointer: '/limit' });
      }
      const last = lastSeen(readHeaders(READ_SESSION_EVENTS.headers, sent)['last-event-id']);
      await this.stream(caller, sessionId, last === null ? fromSeq : last + 1, reply);
      return;
    }
    const { pageMax } = this.settings.limits;
    const page = await this.reading.page(caller, sessionId, fromSeq, Math.min(limit ?? pageMax, pageMax));
    void reply.header('cache-control', 'no-store').header('vary', 'accept').send(page);
  }

  @Get('state')
  @AllowRoles('harness', 'operator', 'auditor')
  @Implements(GET_STATE)
  state(@CurrentCaller() caller: Caller, @Param('sessionId') sessionId: string): Promise<StateRepresentation> {
    return this.reading.state(caller, sessionId);
  }

  @Put('state')
  @AllowRoles('harness')
  @Implements(SAVE_STATE)
  async save(
    @CurrentCaller() caller: Caller,
    @Param('sessionId') sessionId: string,
    @Body() input: unknown,
  ): Promise<StateRepresentation> {
    const { ownerEpoch, savePoint } = readInput(SAVE_STATE.body, input);
    return savedRepresentation(await this.commands.execute(new SaveState(caller, sessionId, ownerEpoch, savePoint)));
  }

  @Post('state/not-resumable')
  @HttpCode(200)
  @AllowRoles('harness')
  @Implements(MARK_NOT_RESUMABLE)
  async mark(
    @CurrentCaller() caller: Caller,
    @Param('sessionId') sessionId: string,
    @Body() input: unknown,
  ): Promise<StateRepresentation> {
    const { ownerEpoch } = readInput(MARK_NOT_RESUMABLE.body, input);
    await this.commands.execute(new MarkSession(caller, sessionId, ownerEpoch));
    return this.reading.state(caller, sessionId);
  }

  @Get('inspect')
  @AllowRoles('operator')
  @Implements(INSPECT_SESSION)
  inspect(
    @CurrentCaller() caller: Caller,
    @Param('sessionId') sessionId: string,
    @Query() query: unknown,
  ): Promise<InspectAnswer> {
    const { deep } = readInput(INSPECT_SESSION.query, query);
    return this.reading.inspect(caller, sessionId, deep === 'true');
  }

  @Get('raw')
  @AllowRoles('operator')
  @Implements(READ_RAW_SESSION)
  async raw(
    @CurrentCaller() caller: Caller,
    @Param('sessionId') sessionId: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const text = await this.reading.raw(caller, sessionId);
    void reply.type('application/x-ndjson; charset=utf-8').header('cache-control', 'no-store').send(text);
  }

  private async stream(caller: Caller, sessionId: string, fromSeq: number, reply: FastifyReply): Promise<void> {
    const gone = new AbortController();
    // What is refused is refused before the stream begins.
    await this.reading.page(caller, sessionId, fromSeq, 1);
    const batches = this.reading.follow(caller, sessionId, fromSeq, gone.signal);
    void reply.hijack();
    try {
      await new EventStreamWriter(reply.raw).run(batches, () => gone.abort());
    } catch (error) {
      this.logger.error('a stream of a session failed', { error: errorName(error) });
    }
  }
}
