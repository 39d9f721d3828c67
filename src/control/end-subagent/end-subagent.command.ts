import { Command } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';

export interface SubagentEnd {
  readonly status: 'completed' | 'failed';
  readonly resultRef: string | null;
}

export interface EndedSubagent {
  readonly subagentId: string;
  readonly runId: string;
  readonly status: 'completed' | 'failed';
  /** True when its run had ended before: nothing of the run changed. */
  readonly late: boolean;
}

/** A helper of a run has ended; also when the run has ended before it. */
export class EndSubagent extends Command<EndedSubagent> {
  constructor(
    readonly caller: Caller,
    readonly runId: string,
    readonly subagentId: string,
    readonly end: SubagentEnd,
  ) {
    super();
  }
}
