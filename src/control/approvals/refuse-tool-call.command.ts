import { Command } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';
import { type Acknowledged } from '../command-log.js';

/** A person says no to one call that may be sent already: it beats every standing grant. */
export class RefuseToolCall extends Command<Acknowledged> {
  constructor(
    readonly caller: Caller,
    readonly toolCallId: string,
    readonly reason: string,
    readonly commandId: string | null,
  ) {
    super();
  }
}
