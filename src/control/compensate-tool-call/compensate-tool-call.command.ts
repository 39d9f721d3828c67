import { Command } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';
import type { Proposed } from '../propose-tool-call/propose-tool-call.command.js';

/** Proposes the call that the manifest names as the one that undoes another. */
export class CompensateToolCall extends Command<Proposed> {
  constructor(
    readonly caller: Caller,
    readonly toolCallId: string,
    readonly reason: string | null,
  ) {
    super();
  }
}
