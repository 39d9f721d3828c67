import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { SessionDesk } from '../../sessions/session-desk.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { loadOwnSession, mustOwn } from '../own-session.js';
import { DetachSession } from './detach-session.command.js';

@CommandHandler(DetachSession)
export class DetachSessionHandler implements ICommandHandler<DetachSession> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly sessions: SessionDesk,
  ) {}

  async execute({
    caller,
    sessionId,
    ownerEpoch,
    reason,
  }: DetachSession): Promise<{ durableSeq: number; headSeq: number }> {
    const row = await loadOwnSession(this.desk.read, caller, sessionId);
    mustOwn(row, ownerEpoch);
    const live = await this.sessions.open(row);
    const payload = { harnessInstanceId: row.harness_instance_id ?? '', ownerEpoch, reason };
    const event = { eventType: 'session.harness_detached', payload, causationId: null, causeKind: 'external' } as const;
    await live.append([event], { producer: 'session-runtime', ownerEpoch: null });
    const durableSeq = await live.flush();
    return { durableSeq, headSeq: live.status().headSeq };
  }
}
