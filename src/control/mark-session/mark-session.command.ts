import { Command } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';

/** The attached harness says that its run cannot go on. The session stays readable. */
export class MarkSession extends Command<void> {
  constructor(
    readonly caller: Caller,
    readonly sessionId: string,
    readonly ownerEpoch: number,
  ) {
    super();
  }
}
