import { Command } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';
import type { Acknowledged } from '../command-log.js';

/** Goes on with a held store: an operator has looked at what it lacks. */
export class AcceptRestore extends Command<Acknowledged> {
  constructor(
    readonly caller: Caller,
    readonly reason: string,
    readonly commandId: string | null,
  ) {
    super();
  }
}
