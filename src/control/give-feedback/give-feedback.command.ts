import { Command } from '@nestjs/cqrs';
import type { OutcomeStatus } from '../../domain/outcome/outcome.state.js';
import type { Evidence } from '../../domain/outcome/outcome.commands.js';
import type { FeedbackVerdict } from '../../domain/events/outcome-events.js';
import type { Caller } from '../../identity/caller.js';

/** What a source says of a call's success criteria. Who says it is the caller. */
export interface GivenFeedback {
  /** The source's own id: the same id is the same feedback. */
  readonly feedbackId: string;
  readonly verdict: FeedbackVerdict;
  readonly criteriaId: string;
  readonly criteriaVersion: string;
  readonly evidence: readonly Evidence[];
  /** ISO 8601 in UTC. */
  readonly verifiedAt: string;
  readonly note: string | null;
}

export interface TakenFeedback {
  readonly toolCallId: string;
  readonly feedbackId: string;
  /** True when this id had been taken before: nothing new was recorded. */
  readonly replayed: boolean;
  readonly outcome: OutcomeStatus;
}

/** A source of feedback shows what the world says of a call. */
export class GiveFeedback extends Command<TakenFeedback> {
  constructor(
    readonly caller: Caller,
    readonly toolCallId: string,
    readonly given: GivenFeedback,
  ) {
    super();
  }
}
