import { Command } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';

export interface OpenedRun {
  readonly runId: string;
  /** False when a run of this label was open already. */
  readonly opened: boolean;
}

/** A harness opens the run of a label before its first call, so that it can say why before it proposes what. */
export class OpenRun extends Command<OpenedRun> {
  constructor(
    readonly caller: Caller,
    readonly label: string,
    readonly goalRef: string | null,
  ) {
    super();
  }
}
