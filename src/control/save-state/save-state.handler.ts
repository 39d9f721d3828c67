import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { keyOf, SessionDesk } from '../../sessions/session-desk.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { loadOwnSession, mustOwn } from '../own-session.js';
import { SaveState } from './save-state.command.js';

@CommandHandler(SaveState)
export class SaveStateHandler implements ICommandHandler<SaveState> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly sessions: SessionDesk,
  ) {}

  async execute({ caller, sessionId, ownerEpoch, savePoint }: SaveState): Promise<void> {
    const row = await loadOwnSession(this.desk.read, caller, sessionId);
    mustOwn(row, ownerEpoch);
    await this.sessions.open(row);
    await this.sessions.coordinator.save(keyOf(row), savePoint);
  }
}
