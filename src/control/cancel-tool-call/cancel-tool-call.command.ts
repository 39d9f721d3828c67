import { Command } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';
import type { Acknowledged } from '../command-log.js';

/** Ends a call that has not been sent. A request on the wire is never said to be cancelled. */
export class CancelToolCall extends Command<Acknowledged> {
  constructor(
    readonly caller: Caller,
    readonly toolCallId: string,
    readonly reason: string | null,
    readonly commandId: string | null,
  ) {
    super();
  }
}
