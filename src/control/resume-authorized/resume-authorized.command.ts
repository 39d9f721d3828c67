import { Command } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';
import type { Acknowledged } from '../command-log.js';

/** Lets calls go on that were authorized before a restart, where `execution.resumeAuthorized` is `on_control`. */
export class ResumeAuthorized extends Command<Acknowledged> {
  constructor(
    readonly caller: Caller,
    readonly reason: string | null,
    readonly commandId: string | null,
  ) {
    super();
  }
}
