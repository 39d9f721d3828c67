import { Command } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';
import type { Acknowledged } from '../command-log.js';

/** Proposes the next attempt of a call that is proven to have had no effect: same id, same downstream key. */
export class RetryToolCall extends Command<Acknowledged> {
  constructor(
    readonly caller: Caller,
    readonly toolCallId: string,
    readonly reason: string | null,
    readonly commandId: string | null,
  ) {
    super();
  }
}
