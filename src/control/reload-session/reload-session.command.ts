import { Command } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';
import type { Acknowledged } from '../command-log.js';

/** What a session says is derived anew from what is durable. Changes no fact of its runs. */
export class ReloadSession extends Command<Acknowledged> {
  constructor(
    readonly caller: Caller,
    readonly sessionId: string,
    readonly reason: string | null,
    readonly commandId: string | null,
  ) {
    super();
  }
}
