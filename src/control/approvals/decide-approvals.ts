import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { ErrorCode } from '../../domain/errors/error-codes.js';
import type { Caller } from '../../identity/caller.js';
import { DecideApproval, type Decision } from '../decide-approval/decide-approval.command.js';
import { DecideApprovalHandler } from '../decide-approval/decide-approval.handler.js';

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

/** One after the other through the one decision: what is refused keeps nothing else from being recorded. */
@CommandHandler(DecideApprovals)
export class DecideApprovalsHandler implements ICommandHandler<DecideApprovals> {
  constructor(private readonly deciding: DecideApprovalHandler) {}

  async execute({ caller, words, commandId }: DecideApprovals): Promise<readonly OneDecided[]> {
    const seen = new Set(words.map(({ approvalId }) => approvalId));
    if (seen.size < words.length) {
      throw new CountersignError('invalid_request', 'an approval is listed twice', { pointer: '/decisions' });
    }
    const results: OneDecided[] = [];
    for (const word of words) results.push(await this.one(caller, word, commandId));
    return results;
  }

  private async one(caller: Caller, word: Decision, all: string | null): Promise<OneDecided> {
    const { approvalId } = word;
    try {
      const own = all === null ? null : `${all}/${approvalId}`;
      const { commandId } = await this.deciding.execute(new DecideApproval(caller, word, own));
      return { approvalId, result: 'recorded', commandId };
    } catch (error) {
      if (!(error instanceof CountersignError)) throw error;
      return { approvalId, result: 'refused', code: error.code, message: error.message };
    }
  }
}
