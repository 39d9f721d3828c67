import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { Caller } from '../../identity/caller.js';
import { DecideApproval, type Decision } from '../decide-approval/decide-approval.command.js';
import { DecideApprovalHandler } from '../decide-approval/decide-approval.handler.js';
import { type OneDecided, DecideApprovals } from './decide-approvals.command.js';

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
