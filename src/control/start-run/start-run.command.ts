import { Command } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';

/** The attached harness begins a run in its session: one attempt at a goal. */
export class StartRun extends Command<{ readonly runId: string; readonly started: boolean }> {
  constructor(
    readonly caller: Caller,
    readonly sessionId: string,
    readonly ownerEpoch: number,
    /** The harness's own name of the run: the same name is the same run. */
    readonly clientId: string,
    readonly goalRef: string | null,
  ) {
    super();
  }
}
