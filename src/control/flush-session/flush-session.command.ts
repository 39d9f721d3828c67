import { Command } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';

/** Answers when everything said so far in the session is on disk. */
export class FlushSession extends Command<{ readonly durableSeq: number; readonly headSeq: number }> {
  constructor(
    readonly caller: Caller,
    readonly sessionId: string,
  ) {
    super();
  }
}
