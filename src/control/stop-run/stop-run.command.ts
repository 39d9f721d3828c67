import { Command } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';
import type { Acknowledged } from '../command-log.js';

/** Asks that nothing more of a run begins and that what can be stopped is stopped. */
export class StopRun extends Command<Acknowledged> {
  constructor(
    readonly caller: Caller,
    readonly runId: string,
    /** True when the issuer knows that a model is still generating for this run: its end is waited for, and recorded. */
    readonly modelActive: boolean,
    readonly reason: string | null,
    readonly commandId: string | null,
  ) {
    super();
  }
}
