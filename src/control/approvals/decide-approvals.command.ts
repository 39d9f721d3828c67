import { Command } from '@nestjs/cqrs';
import type { ErrorCode } from '../../domain/errors/error-codes.js';
import type { Caller } from '../../identity/caller.js';
import { type Decision } from '../decide-approval/decide-approval.command.js';

/** What became of one of many. */
export type OneDecided =
  | { readonly approvalId: string; readonly result: 'recorded'; readonly commandId: string }
  | { readonly approvalId: string; readonly result: 'refused'; readonly code: ErrorCode; readonly message: string };

/** Many words about exactly the questions that are listed; each is decided by itself. */
export class DecideApprovals extends Command<readonly OneDecided[]> {
  constructor(
    readonly caller: Caller,
    readonly words: readonly Decision[],
    /** What the client calls the whole; each word gets a name of its own from it. */
    readonly commandId: string | null,
  ) {
    super();
  }
}
