import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { SessionDesk } from '../../sessions/session-desk.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { loadOwnSession, mustOwn } from '../own-session.js';
import { AppendEvents, type Appended } from './append-events.command.js';

@CommandHandler(AppendEvents)
export class AppendEventsHandler implements ICommandHandler<AppendEvents> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly sessions: SessionDesk,
  ) {}

  async execute({ caller, sessionId, batch }: AppendEvents): Promise<Appended> {
    const row = await loadOwnSession(this.desk.read, caller, sessionId);
    mustOwn(row, batch.ownerEpoch);
    const live = await this.sessions.open(row);
    const isRepeat = live.facts.headSeq !== batch.expectedSeq - 1;
    const { events, headSeq } = await live.append(batch.events, {
      producer: 'harness',
      ownerEpoch: batch.ownerEpoch,
      expectedSeq: batch.expectedSeq - 1,
      isGroup: batch.isAtomic,
    });
    const lastSeq = events.at(-1)?.seq ?? headSeq;
    const durableSeq = batch.isDurable ? await live.flush() : live.status().durableSeq;
    return {
      headSeq: live.status().headSeq,
      durableSeq,
      durable: durableSeq >= lastSeq,
      // Only what was there already is accepted at another place than the end.
      replayed: isRepeat,
      eventIds: events.map(({ eventId }) => eventId),
    };
  }
}
