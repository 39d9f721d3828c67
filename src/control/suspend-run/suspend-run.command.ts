import { Command } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';
import type { Acknowledged } from '../command-log.js';

/** Pauses one run at its next safe point. Nothing is cancelled, and it can be resumed. */
export class SuspendRun extends Command<Acknowledged> {
  constructor(
    readonly caller: Caller,
    readonly runId: string,
    readonly reason: string | null,
    readonly commandId: string | null,
  ) {
    super();
  }
}
