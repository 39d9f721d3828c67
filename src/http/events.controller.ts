import { Controller, Get, Headers, Query, Res } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import type { EventPageRepresentation } from '../client/contract/events.js';
import { Settings } from '../config/settings.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import type { EventType } from '../domain/events/catalogue.js';
import { isEventType } from '../domain/events/domain-event.js';
import { AllowRoles, CurrentCaller } from '../identity/bearer.guard.js';
import type { Caller } from '../identity/caller.js';
import type { EventRequest } from '../runtime/events/event-access.js';
import type { EventPage } from '../runtime/events/event-pages.js';
import { FollowEvents, ListEvents } from '../runtime/queries/event.queries.js';
import { Logger, errorName } from '../system/logger.js';
import { EventStreamWriter } from './event-stream.js';
import { lastSeen, wantsStream } from './event-stream-request.js';
import { READ_EVENTS } from './events.operations.js';
import { readHeaders, type SentHeaders } from './openapi/headers.js';
import { Implements } from './openapi/operation.js';
import { readInput } from './read-input.js';

@Controller('v1/events')
export class EventsController {
  constructor(
    private readonly queries: QueryBus,
    private readonly settings: Settings,
    private readonly logger: Logger,
  ) {}

  /** A page as JSON or, for who accepts `text/event-stream`, the events as they come. */
  @Get()
  @AllowRoles('harness', 'operator', 'auditor')
  @Implements(READ_EVENTS)
  async read(
    @CurrentCaller() caller: Caller,
    @Query() query: unknown,
    @Headers() sent: SentHeaders,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { after, runId, types, limit } = readInput(READ_EVENTS.query, query);
    const request = { after: Number(after ?? -1), runId: runId ?? null, types: eventTypes(types) };
    if (wantsStream(sent['accept'])) {
      if (limit !== undefined) {
        throw new CountersignError('invalid_request', 'a stream has no limit', { pointer: '/limit' });
      }
      const last = lastSeen(readHeaders(READ_EVENTS.headers, sent)['last-event-id']);
      await this.stream(caller, last === null ? request : { ...request, after: last }, reply);
      return;
    }
    const { pageMax } = this.settings.limits;
    const page = await this.queries.execute(new ListEvents(caller, request, Math.min(limit ?? pageMax, pageMax)));
    void reply.header('cache-control', 'no-store').header('vary', 'accept').send(represent(page));
  }

  private async stream(caller: Caller, request: EventRequest, reply: FastifyReply): Promise<void> {
    const gone = new AbortController();
    const batches = await this.queries.execute(new FollowEvents(caller, request, gone.signal));
    void reply.hijack();
    try {
      await new EventStreamWriter(reply.raw).run(batches, () => gone.abort());
    } catch (error) {
      this.logger.error('a stream of events failed', { error: errorName(error) });
    }
  }
}

/** The view is the representation; the compiler holds the two together. */
const represent = (page: EventPage): EventPageRepresentation => page as EventPageRepresentation & EventPage;

function eventTypes(list: string | undefined): readonly EventType[] | null {
  if (list === undefined) return null;
  return list.split(',').map((type) => {
    if (isEventType(type)) return type;
    throw new CountersignError('invalid_request', 'types names an event type that does not exist', {
      pointer: '/types',
    });
  });
}
