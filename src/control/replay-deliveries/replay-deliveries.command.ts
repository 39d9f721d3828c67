import { Command } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';
import type { Acknowledged } from '../command-log.js';

/** What a sink is told again: dead letters, or everything between two positions, both included. */
export type ReplayTarget =
  | { readonly kind: 'dead_letters'; readonly sink: string; readonly position: number | 'all' }
  | {
      readonly kind: 'range';
      readonly sink: string;
      readonly fromPosition: number;
      /** Null: up to where the sink is. */
      readonly toPosition: number | null;
    };

/** Repeats deliveries to one sink, with the ids they had, in order. */
export class ReplayDeliveries extends Command<Acknowledged> {
  constructor(
    readonly caller: Caller,
    readonly target: ReplayTarget,
    readonly commandId: string | null,
  ) {
    super();
  }
}
