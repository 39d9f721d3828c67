import { Body, Controller, Get, Headers, Param, Post, Query, Res } from '@nestjs/common';
import { CommandBus, QueryBus, type Command } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import {
  deadLetterQuery,
  deadLetterReplayBody,
  sinkReplayBody,
  type DeadLetterPageRepresentation,
  type SinkListRepresentation,
} from '../client/contract/outbox.js';
import { Settings } from '../config/settings.js';
import type { Acknowledged } from '../control/command-log.js';
import { ReplayDeliveries, type ReplayTarget } from '../control/replay-deliveries/replay-deliveries.command.js';
import { AllowRoles, CurrentCaller } from '../identity/bearer.guard.js';
import { ROLES, type Caller } from '../identity/caller.js';
import { ListDeadLetters, ListSinks } from '../runtime/queries/outbox.queries.js';
import { readInput } from './read-input.js';

/** An answer that claims nothing: the command is recorded, and this is where to ask what became of it. */
interface Accepted {
  readonly commandId: string;
  readonly status: 'accepted';
  readonly links: { readonly self: string };
}

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
  async sinks(@CurrentCaller() caller: Caller): Promise<SinkListRepresentation> {
    const items = await this.queries.execute(new ListSinks(caller));
    return { items: items.map((item) => ({ ...item })) };
  }

  @Get('dead-letters')
  @AllowRoles('operator', 'auditor')
  async deadLetters(@CurrentCaller() caller: Caller, @Query() query: unknown): Promise<DeadLetterPageRepresentation> {
    const { sink, after, limit } = readInput(deadLetterQuery, query);
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
  replayDeadLetters(
    @CurrentCaller() caller: Caller,
    @Body() input: unknown,
    @Headers('idempotency-key') key: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Accepted> {
    const { sink, position, commandId } = readInput(deadLetterReplayBody, input);
    return this.replay(caller, { kind: 'dead_letters', sink, position }, commandId ?? key ?? null, reply);
  }

  @Post('sinks/:name/replay')
  @AllowRoles(...ROLES)
  replayRange(
    @CurrentCaller() caller: Caller,
    @Param('name') sink: string,
    @Body() input: unknown,
    @Headers('idempotency-key') key: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Accepted> {
    const { fromPosition, toPosition, commandId } = readInput(sinkReplayBody, input);
    const target: ReplayTarget = { kind: 'range', sink, fromPosition, toPosition: toPosition ?? null };
    return this.replay(caller, target, commandId ?? key ?? null, reply);
  }

  private async replay(
    caller: Caller,
    target: ReplayTarget,
    commandId: string | null,
    reply: FastifyReply,
  ): Promise<Accepted> {
    const acknowledged = await this.commands.execute<Command<Acknowledged>, Acknowledged>(
      new ReplayDeliveries(caller, target, commandId),
    );
    void reply.code(202);
    const self = `/v1/control/${encodeURIComponent(acknowledged.commandId)}`;
    return { commandId: acknowledged.commandId, status: 'accepted', links: { self } };
  }
}
