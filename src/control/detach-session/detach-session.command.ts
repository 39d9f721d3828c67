import { Command } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';

/** The attached harness leaves, with everything it has said on disk. Answers up to which `seq`. */
export class DetachSession extends Command<{ readonly durableSeq: number; readonly headSeq: number }> {
  constructor(
    readonly caller: Caller,
    readonly sessionId: string,
    readonly ownerEpoch: number,
    readonly reason: string,
  ) {
    super();
  }
}
