import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Settings } from '../../config/settings.js';
import { CommandLog, type Acknowledged } from '../command-log.js';
import { requireInstallationOperator } from '../own-call.js';
import { ResumeAuthorized } from './resume-authorized.command.js';

/** The recorded command is the whole effect: the sweep follows the feed and takes the calls up. */
@CommandHandler(ResumeAuthorized)
export class ResumeAuthorizedHandler implements ICommandHandler<ResumeAuthorized> {
  constructor(
    private readonly log: CommandLog,
    private readonly settings: Settings,
  ) {}

  execute({ caller, reason, commandId }: ResumeAuthorized): Promise<Acknowledged> {
    const asked = { type: 'resume_authorized', target: { kind: 'authorized' }, details: { reason }, commandId };
    return this.log.carryOut(caller, asked, async (start) => {
      requireInstallationOperator(caller, this.settings);
      return start({ correlationId: 'authorized' });
    });
  }
}
