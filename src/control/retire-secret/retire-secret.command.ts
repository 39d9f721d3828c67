import { Command } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';
import type { Acknowledged } from '../command-log.js';

/** Takes the value of one version of a secret out of the store. */
export class RetireSecret extends Command<Acknowledged> {
  constructor(
    readonly caller: Caller,
    readonly name: string,
    readonly version: number,
  ) {
    super();
  }
}
