import { Command } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';

/** The log and the snapshots of a session go; its tombstone and what was governed stay. */
export class DeleteSession extends Command<void> {
  constructor(
    readonly caller: Caller,
    readonly sessionId: string,
  ) {
    super();
  }
}
