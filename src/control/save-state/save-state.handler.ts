import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { SessionDesk } from '../../sessions/session-desk.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { loadOwnSession, mustOwn } from '../own-session.js';
import { SaveState, type SavedState } from './save-state.command.js';

@CommandHandler(SaveState)
export class SaveStateHandler implements ICommandHandler<SaveState> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly sessions: SessionDesk,
  ) {}

  async execute({ caller, sessionId, ownerEpoch, savePoint }: SaveState): Promise<SavedState> {
    const row = await loadOwnSession(this.desk.read, caller, sessionId);
    mustOwn(row, ownerEpoch);
    const live = await this.sessions.open(row);
    const result = await this.sessions.coordinator.saves.save(live, savePoint);
    if (result.outcome !== 'saved') throw new CountersignError('state_save_failed', result.problem);
    return { snapshot: result.snapshot, canResume: live.canGoOn };
  }
}
