import { Command } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';
import type { PolicyFile } from '../../policy/engine/policy-set.js';
import type { Acknowledged } from '../command-log.js';

/** The set that is to be asked beside the one in force: one that is kept, or new files. Null ends the shadow. */
export type ShadowChoice = { readonly revision: string } | { readonly files: readonly PolicyFile[] } | null;

export class SetPolicyShadow extends Command<Acknowledged> {
  constructor(
    readonly caller: Caller,
    readonly choice: ShadowChoice,
    readonly reason: string | null,
    readonly commandId: string | null,
  ) {
    super();
  }
}
