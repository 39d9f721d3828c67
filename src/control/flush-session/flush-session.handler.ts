import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { SessionDesk } from '../../sessions/session-desk.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { loadOwnSession } from '../own-session.js';
import { FlushSession } from './flush-session.command.js';

@CommandHandler(FlushSession)
export class FlushSessionHandler implements ICommandHandler<FlushSession> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly sessions: SessionDesk,
  ) {}

  async execute({
    caller,
    sessionId,
  }: FlushSession): Promise<{ readonly durableSeq: number; readonly headSeq: number }> {
    const live = await this.sessions.open(await loadOwnSession(this.desk.read, caller, sessionId));
    const durableSeq = await live.flush();
    return { durableSeq, headSeq: live.status().headSeq };
  }
}
