import { Command } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';
import type { Acknowledged } from '../command-log.js';

/** Loads the policy folder again; a set with a problem leaves the active one in force. */
export class ReloadPolicies extends Command<Acknowledged> {
  constructor(
    readonly caller: Caller,
    readonly reason: string | null,
    readonly commandId: string | null,
  ) {
    super();
  }
}
