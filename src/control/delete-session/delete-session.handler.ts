import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { SessionDesk } from '../../sessions/session-desk.js';
import { GuardFailed } from '../../storage/unit.js';
import { hasNoOpenRun, loadedSession, SessionInUnit } from '../../storage/units/session-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { loadSessionOrTombstone } from '../own-session.js';
import { DeleteSession } from './delete-session.command.js';

const TRIES_MAX = 3;

/** The tombstone first, then the files: asked again, what a crash left of them is removed. */
@CommandHandler(DeleteSession)
export class DeleteSessionHandler implements ICommandHandler<DeleteSession> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly sessions: SessionDesk,
  ) {}

  async execute({ caller, sessionId }: DeleteSession): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const row = await loadSessionOrTombstone(this.desk.read, caller, sessionId, 'operator');
      if ((await this.desk.read.openRunOfSession(caller.tenant, sessionId)) !== null) {
        throw new CountersignError('run_has_open_work', 'a run of the session has not ended');
      }
      const draft = this.desk.begin({
        tenant: caller.tenant,
        lane: 'govern',
        actor: caller.actor,
        correlationId: sessionId,
        sessionId,
        occurredAt: this.desk.now(),
        causationId: null,
        causeKind: 'external',
      });
      new SessionInUnit(draft, loadedSession(row)).do({ kind: 'delete', deletion: {} });
      try {
        if (!draft.isEmpty) await this.desk.commit(draft.guard(hasNoOpenRun(caller.tenant, sessionId)));
        await this.sessions.delete(row);
        return;
      } catch (error) {
        if (!(error instanceof GuardFailed)) throw error;
        if (tries === TRIES_MAX) throw new CountersignError('contended', 'others change the session at the same time');
      }
    }
  }
}
