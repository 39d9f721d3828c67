import { Body, Controller, Get, Headers, Param, Post, Query, Res } from '@nestjs/common';
import { CommandBus, QueryBus, type Command } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import type { AcceptedCommand } from '../client/contract/control.js';
import type { DeadLetterPageRepresentation, SinkListRepresentation } from '../client/contract/outbox.js';
import { Settings } from '../config/settings.js';
import type { Acknowledged } from '../control/command-log.js';
import { ReplayDeliveries, type ReplayTarget } from '../control/replay-deliveries/replay-deliveries.command.js';
import { AllowRoles, CurrentCaller } from '../identity/bearer.guard.js';
import { ROLES, type Caller } from '../identity/caller.js';
import { ListDeadLetters, ListSinks } from '../runtime/queries/outbox.queries.js';
import { commandIdOf } from './command-id.js';
import { readHeaders, type SentHeaders } from './openapi/headers.js';
import { Implements } from './openapi/operation.js';
import { LIST_DEAD_LETTERS, LIST_SINKS, REPLAY_DEAD_LETTERS, REPLAY_DELIVERIES } from './outbox.operations.js';
import { readInput } from './read-input.js';

/** How far the sinks are, what they refused, and how to tell them again. For those who run the installation. */
@Controller('v1/outbox')
export class OutboxController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly settings: Settings,
  ) {}

  @Get('sinks')
  @AllowRoles('operator', 'auditor')
  @Implements(LIST_SINKS)
  async sinks(@CurrentCaller() caller: Caller): Promise<SinkListRepresentation> {
    const items = await this.queries.execute(new ListSinks(caller));
    return { items: items.map((item) => ({ ...item })) };
  }

  @Get('dead-letters')
  @AllowRoles('operator', 'auditor')
  @Implements(LIST_DEAD_LETTERS)
  async deadLetters(@CurrentCaller() caller: Caller, @Query() query: unknown): Promise<DeadLetterPageRepresentation> {
    const { sink, after, limit } = readInput(LIST_DEAD_LETTERS.query, query);
    const { pageMax } = this.settings.limits;
    const page = await this.queries.execute(
      new ListDeadLetters(caller, sink ?? null, Number(after ?? -1), Math.min(limit ?? pageMax, pageMax)),
    );
    const items = page.letters.map((letter) => ({
      sink: letter.sink,
      position: letter.position,
      eventId: letter.event_id,
      eventType: letter.event_type,
      tenant: letter.tenant,
      partition: letter.partition,
      tries: letter.tries,
      lastError: letter.last_error,
      recordedAt: letter.recorded_at,
      parkedAt: letter.parked_at,
    }));
    return { items, nextAfter: page.nextAfter };
  }

  /** Open to every role: who may not is refused by the command, and the refusal is recorded. */
  @Post('dead-letters/replay')
  @AllowRoles(...ROLES)
  @Implements(REPLAY_DEAD_LETTERS)
  async replayDeadLetters(
    @CurrentCaller() caller: Caller,
    @Body() input: unknown,
    @Headers() sent: SentHeaders,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AcceptedCommand> {
    const body = readInput(REPLAY_DEAD_LETTERS.body, input);
    const { sink, position } = body;
    const headers = readHeaders(REPLAY_DEAD_LETTERS.headers, sent);
    return this.replay(caller, { kind: 'dead_letters', sink, position }, commandIdOf(body, headers), reply);
  }

  @Post('sinks/:name/replay')
  @AllowRoles(...ROLES)
  @Implements(REPLAY_DELIVERIES)
  async replayRange(
    @CurrentCaller() caller: Caller,
    @Param('name') sink: string,
    @Body() input: unknown,
    @Headers() sent: SentHeaders,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AcceptedCommand> {
    const body = readInput(REPLAY_DELIVERIES.body, input);
    const { fromPosition, toPosition } = body;
    const headers = readHeaders(REPLAY_DELIVERIES.headers, sent);
    const target: ReplayTarget = { kind: 'range', sink, fromPosition, toPosition: toPosition ?? null };
    return this.replay(caller, target, commandIdOf(body, headers), reply);
  }

  private async replay(
    caller: Caller,
    target: ReplayTarget,
    commandId: string | null,
    reply: FastifyReply,
  ): Promise<AcceptedCommand> {
    const acknowledged = await this.commands.execute<Command<Acknowledged>, Acknowledged>(
      new ReplayDeliveries(caller, target, commandId),
    );
    void reply.code(202);
    const self = `/v1/control/${encodeURIComponent(acknowledged.commandId)}`;
    return { commandId: acknowledged.commandId, status: 'accepted', links: { self } };
  }
}
