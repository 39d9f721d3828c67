import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { SessionDesk } from '../../sessions/session-desk.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { loadOwnSession, mustOwn } from '../own-session.js';
import { MarkSession } from './mark-session.command.js';

@CommandHandler(MarkSession)
export class MarkSessionHandler implements ICommandHandler<MarkSession> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly sessions: SessionDesk,
  ) {}

  async execute({ caller, sessionId, ownerEpoch }: MarkSession): Promise<void> {
    const row = await loadOwnSession(this.desk.read, caller, sessionId);
    mustOwn(row, ownerEpoch);
    await this.sessions.markNotResumable(await this.sessions.open(row));
  }
}
