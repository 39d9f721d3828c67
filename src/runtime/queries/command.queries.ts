import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { principalKey, principalOf } from '../../domain/principal.js';
import { hasRole, type Caller } from '../../identity/caller.js';
import { Store } from '../../storage/store.js';

export interface CommandView {
  readonly commandId: string;
  readonly type: string;
  readonly status: 'accepted' | 'rejected';
  readonly code: string | null;
  readonly message: string | null;
  readonly receivedAt: string;
  readonly eventIds: readonly string[];
  readonly links: Readonly<Record<string, string>>;
}

/** What became of a control command, for its issuer. */
export class GetCommand extends Query<CommandView> {
  constructor(
    readonly caller: Caller,
    readonly commandId: string,
  ) {
    super();
  }
}

@QueryHandler(GetCommand)
export class GetCommandHandler implements IQueryHandler<GetCommand> {
  constructor(private readonly store: Store) {}

  async execute({ caller, commandId }: GetCommand): Promise<CommandView> {
    const row = await this.store.read.command(caller.tenant, commandId);
    if (
      row === null ||
      !(row.issuer === principalKey(principalOf(caller.actor)) || hasRole(caller, 'operator', 'auditor'))
    ) {
      throw new CountersignError('command_not_found', 'there is no such command');
    }
    const event = await this.store.read.event(caller.tenant, row.event_id);
    const message = event?.payload['message'];
    return {
      commandId,
      type: row.type,
      status: row.status,
      code: row.code,
      message: typeof message === 'string' ? message : null,
      receivedAt: row.received_at,
      eventIds: event === null ? [] : await this.store.read.unitEventIds(caller.tenant, event.envelope.unitId),
      links: { self: `/v1/control/${encodeURIComponent(commandId)}` },
    };
  }
}
