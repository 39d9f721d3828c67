import { Command } from '@nestjs/cqrs';
import type { HandoffFinding } from '../../domain/events/catalogue.js';
import type { Caller } from '../../identity/caller.js';
import type { Acknowledged } from '../command-log.js';

/** An operator says, with evidence, what became of a call that nobody could settle. Execution state stays. */
export class ResolveHandoff extends Command<Acknowledged> {
  constructor(
    readonly caller: Caller,
    readonly toolCallId: string,
    readonly finding: HandoffFinding,
    readonly evidenceRefs: readonly string[],
    readonly note: string | null,
    readonly commandId: string | null,
  ) {
    super();
  }
}
