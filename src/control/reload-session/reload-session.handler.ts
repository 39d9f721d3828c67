import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { keyOf, SessionDesk } from '../../sessions/session-desk.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { CommandLog, type Acknowledged } from '../command-log.js';
import { loadOwnSession } from '../own-session.js';
import { ReloadSession } from './reload-session.command.js';

/**
 * Lets go of what is in memory of the session and loads what is on disk. A session in the middle of a turn is in use, and a load
 * would take the turn for an interrupted one.
 */
@CommandHandler(ReloadSession)
export class ReloadSessionHandler implements ICommandHandler<ReloadSession> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly sessions: SessionDesk,
    private readonly log: CommandLog,
  ) {}

  async execute({ caller, sessionId, reason, commandId }: ReloadSession): Promise<Acknowledged> {
    const asked = { type: 'reload', target: { sessionId }, details: { reason }, commandId };
    const acknowledged = await this.log.carryOut(caller, asked, async (start) => {
      const row = await loadOwnSession(this.desk.read, caller, sessionId, 'operator');
      if (this.sessions.coordinator.find(keyOf(row))?.hasOpenTurn === true) {
        throw new CountersignError('session_live_open_turn', 'the session is live and its turn is open');
      }
      return start({ correlationId: sessionId, sessionId });
    });
    const row = await loadOwnSession(this.desk.read, caller, sessionId, 'operator');
    const live = this.sessions.coordinator.find(keyOf(row));
    if (live !== undefined && !live.hasOpenTurn) await this.sessions.coordinator.close(keyOf(row));
    await this.sessions.open(row);
    return acknowledged;
  }
}
