import { Command } from '@nestjs/cqrs';
import type { HandoffFinding } from '../../domain/events/catalogue.js';
import type { Caller } from '../../identity/caller.js';
import type { Acknowledged } from '../command-log.js';

/** What a person found out about a call that nobody could settle. */
export interface FoundOut {
  readonly finding: HandoffFinding;
  readonly evidenceRefs: readonly string[];
  readonly note: string | null;
}

/** An operator says, with evidence, what became of the call. Execution state stays. */
export class ResolveHandoff extends Command<Acknowledged> {
  constructor(
    readonly caller: Caller,
    readonly toolCallId: string,
    readonly found: FoundOut,
    readonly commandId: string | null,
  ) {
    super();
  }
}
