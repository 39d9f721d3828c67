import { Command } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';
import type { Acknowledged } from '../command-log.js';

/** What the second person says; `revision` is what they were shown, and exactly that comes into force. */
export interface ActivationWord {
  readonly activationId: string;
  readonly decision: 'allow' | 'deny';
  readonly revision: string;
  readonly reason: string | null;
}

export class DecidePolicyActivation extends Command<Acknowledged> {
  constructor(
    readonly caller: Caller,
    readonly word: ActivationWord,
    readonly commandId: string | null,
  ) {
    super();
  }
}
