import { Command } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';

export type HarnessSavePoint = 'after_user_input' | 'after_assistant_turn' | 'after_tool_batch';

/** The attached harness has reached a point where its conversation can be taken up; what it adds up to is saved. */
export class SaveState extends Command<void> {
  constructor(
    readonly caller: Caller,
    readonly sessionId: string,
    readonly ownerEpoch: number,
    readonly savePoint: HarnessSavePoint,
  ) {
    super();
  }
}
