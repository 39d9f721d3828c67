import { Command } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';
import type { PolicyFile } from '../../policy/engine/policy-set.js';
import type { Acknowledged } from '../command-log.js';

export interface ProposedActivation extends Acknowledged {
  /** The same when the same command is sent again. */
  readonly activationId: string;
}

/** Proposes a set: these files, or (null) what the folder holds now. Somebody else decides. */
export class ProposePolicyActivation extends Command<ProposedActivation> {
  constructor(
    readonly caller: Caller,
    readonly files: readonly PolicyFile[] | null,
    readonly reason: string,
    readonly commandId: string | null,
  ) {
    super();
  }
}
