import { Command } from '@nestjs/cqrs';
import type { SessionSnapshot } from '../../domain/session/session-state.js';
import type { Caller } from '../../identity/caller.js';

export type HarnessSavePoint = 'after_user_input' | 'after_assistant_turn' | 'after_tool_batch';

export interface SavedState {
  /** As it was saved: the log may have gone on since. */
  readonly snapshot: SessionSnapshot;
  readonly canResume: boolean;
}

/** The attached harness has reached a point where its conversation can be taken up; what it adds up to is saved. */
export class SaveState extends Command<SavedState> {
  constructor(
    readonly caller: Caller,
    readonly sessionId: string,
    readonly ownerEpoch: number,
    readonly savePoint: HarnessSavePoint,
  ) {
    super();
  }
}
