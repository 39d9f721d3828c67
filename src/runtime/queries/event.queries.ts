import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';
import { Store } from '../../storage/store.js';
import { EventAccess, type EventRequest } from '../events/event-access.js';
import { readPage, type EventPage } from '../events/event-pages.js';
import { EventStreams, type EventLine } from '../events/event-streams.js';

/** One page of the events a caller may see, by position. */
export class ListEvents extends Query<EventPage> {
  constructor(
    readonly caller: Caller,
    readonly request: EventRequest,
    readonly limit: number,
  ) {
    super();
  }
}

/** The same events as they come, until `gone` is aborted or the process stops. Nothing is read before the first is asked for. */
export class FollowEvents extends Query<AsyncIterable<readonly EventLine[]>> {
  constructor(
    readonly caller: Caller,
    readonly request: EventRequest,
    readonly gone: AbortSignal,
  ) {
    super();
  }
}

@QueryHandler(ListEvents)
export class ListEventsHandler implements IQueryHandler<ListEvents> {
  constructor(
    private readonly store: Store,
    private readonly access: EventAccess,
  ) {}

  async execute({ caller, request, limit }: ListEvents): Promise<EventPage> {
    const { scope, after } = await this.access.open(caller, request);
    return readPage(this.store, scope, after, limit);
  }
}

@QueryHandler(FollowEvents)
export class FollowEventsHandler implements IQueryHandler<FollowEvents> {
  constructor(
    private readonly streams: EventStreams,
    private readonly access: EventAccess,
  ) {}

  async execute({ caller, request, gone }: FollowEvents): Promise<AsyncIterable<readonly EventLine[]>> {
    const { scope, after } = await this.access.open(caller, request);
    return this.streams.follow(scope, after, gone);
  }
}
