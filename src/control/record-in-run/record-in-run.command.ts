import { Command } from '@nestjs/cqrs';
import type { EventPayload } from '../../domain/events/catalogue.js';
import type { Caller } from '../../identity/caller.js';

interface Stated {
  /** The harness's own id: the same id is the same statement. */
  readonly clientId: string;
}

/** Other things of the same run that a statement rests on. */
interface Grounds {
  readonly reasoningObjectId: string | null;
  readonly toolCallId: string | null;
}

/** What a harness states about its run. */
export type Statement =
  | ({ readonly kind: 'turn' } & Stated)
  | ({
      readonly kind: 'reasoning';
      readonly turnId: string;
      readonly intentId: string | null;
      readonly skillId: string | null;
      readonly reasoning: EventPayload<'reasoning.recorded'>;
    } & Stated)
  | ({ readonly kind: 'artifact'; readonly artifact: EventPayload<'artifact.created'> } & Stated & Grounds)
  | ({
      readonly kind: 'subagent';
      readonly spawning: Omit<EventPayload<'subagent.spawned'>, 'subagentId'>;
    } & Stated &
      Pick<Grounds, 'toolCallId'>);

export interface Recorded {
  readonly objectId: string;
  readonly runId: string;
  readonly turnId: string | null;
  /** True when this clientId had been recorded before. */
  readonly replayed: boolean;
}

/** A harness states something about a run of its own principal. `runId` is null where a turn says which. */
export class RecordInRun extends Command<Recorded> {
  constructor(
    readonly caller: Caller,
    readonly runId: string | null,
    readonly statement: Statement,
  ) {
    super();
  }
}
