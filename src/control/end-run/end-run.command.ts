import { Command } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';

export type RunEnding =
  { readonly how: 'complete' } | { readonly how: 'fail'; readonly code: string; readonly message: string | null };

/** A harness says that its run has reached its end, well or badly. */
export class EndRun extends Command<{ readonly runId: string }> {
  constructor(
    readonly caller: Caller,
    readonly runId: string,
    readonly ending: RunEnding,
  ) {
    super();
  }
}
