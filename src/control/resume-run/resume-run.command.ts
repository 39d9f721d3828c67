import { Command } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';
import type { Acknowledged } from '../command-log.js';

/** Lets a suspended or interrupted run go on where it was. */
export class ResumeRun extends Command<Acknowledged> {
  constructor(
    readonly caller: Caller,
    readonly runId: string,
    readonly reason: string | null,
    readonly commandId: string | null,
  ) {
    super();
  }
}
