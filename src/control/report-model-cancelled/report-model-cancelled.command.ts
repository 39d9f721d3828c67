import { Command } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';

/** A harness reports that the model of a run that is being stopped generates no more. */
export class ReportModelCancelled extends Command<void> {
  constructor(
    readonly caller: Caller,
    readonly runId: string,
  ) {
    super();
  }
}
