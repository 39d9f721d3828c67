import { Command } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';
import type { Acknowledged } from '../command-log.js';

/**
 * What is paused: everything, the caller's tenant, one principal's subject, one capability or one version of it, or one
 * agent that is suspended.
 */
export interface PauseTarget {
  readonly kind: 'all' | 'tenant' | 'principal' | 'capability' | 'agent';
  /** Empty for `all`; the tenant, the subject, the capability's name or `name@version` otherwise. */
  readonly value: string;
}

/** Stops (or lets go on) proposals and dispatches of a target. What is on the wire goes on. */
export class SetPause extends Command<Acknowledged> {
  constructor(
    readonly caller: Caller,
    readonly paused: boolean,
    readonly target: PauseTarget,
    readonly reason: string | null,
    readonly commandId: string | null,
  ) {
    super();
  }
}
