import { Command } from '@nestjs/cqrs';
import type { NewSessionEvent } from '../../domain/session/session.append.js';
import type { Caller } from '../../identity/caller.js';

export interface Appended {
  readonly headSeq: number;
  readonly durableSeq: number;
  readonly durable: boolean;
  readonly replayed: boolean;
  readonly eventIds: readonly string[];
}

export interface Batch {
  readonly ownerEpoch: number;
  /** The `seq` that the first of the events is to get. */
  readonly expectedSeq: number;
  readonly events: readonly NewSessionEvent[];
  /** They also become durable together or not at all. */
  readonly isAtomic: boolean;
  /** Answer when the disk has them. */
  readonly isDurable: boolean;
}

/** The attached harness says what happened in its conversation. */
export class AppendEvents extends Command<Appended> {
  constructor(
    readonly caller: Caller,
    readonly sessionId: string,
    readonly batch: Batch,
  ) {
    super();
  }
}
