import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Settings } from '../../config/settings.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import type { UnitDraft } from '../../storage/units/unit-draft.js';
import { CommandLog, type Acknowledged } from '../command-log.js';
import { requireInstallationOperator } from '../own-call.js';
import { ReplayDeliveries, type ReplayTarget } from './replay-deliveries.command.js';

/** Dead letters that one command brings back. */
const LETTERS_MAX = 500;

/** Records what an operator wants repeated, in the rows that the relay follows; the relay does the rest. */
@CommandHandler(ReplayDeliveries)
export class ReplayDeliveriesHandler implements ICommandHandler<ReplayDeliveries> {
  constructor(
    private readonly log: CommandLog,
    private readonly desk: UnitDesk,
    private readonly settings: Settings,
  ) {}

  execute({ caller, target, commandId }: ReplayDeliveries): Promise<Acknowledged> {
    const asked = { type: 'replay', target: { ...target }, details: {}, commandId };
    return this.log.carryOut(caller, asked, async (start, now) => {
      requireInstallationOperator(caller, this.settings);
      if (!Object.hasOwn(this.settings.outbox.sinks, target.sink)) {
        throw new CountersignError('sink_not_found', 'there is no such sink');
      }
      const draft = start({ correlationId: `outbox/${target.sink}` });
      return target.kind === 'range' ? this.repeatRange(draft, target) : this.reviveLetters(draft, target, now);
    });
  }

  private async reviveLetters(
    draft: UnitDraft,
    { sink, position }: Extract<ReplayTarget, { kind: 'dead_letters' }>,
    now: string,
  ): Promise<UnitDraft> {
    const letters =
      position === 'all'
        ? await this.desk.read.deadLetters(sink, -1, LETTERS_MAX)
        : (await this.desk.read.deadLetters(sink, position - 1, 1)).filter((letter) => letter.position === position);
    if (letters.length === 0) throw new CountersignError('dead_letter_not_found', 'the sink has no such dead letter');
    for (const letter of letters) {
      draft.write({
        op: 'set',
        table: 'sink_parked',
        where: { sink, position: letter.position, state: 'dead' },
        set: { state: 'parked', tries: 0, next_at: now },
        guard: 'dead_letter',
      });
    }
    return draft;
  }

  private async repeatRange(
    draft: UnitDraft,
    { sink, fromPosition, toPosition }: Extract<ReplayTarget, { kind: 'range' }>,
  ): Promise<UnitDraft> {
    const row = await this.desk.read.sinkCursor(sink);
    if (row === null) throw new CountersignError('sink_not_found', 'there is no such sink');
    // What the sink has not come to yet, it comes to by itself.
    const last = Math.min(toPosition ?? row.position, row.position);
    if (fromPosition > last) {
      throw new CountersignError('invalid_request', 'no event between these positions has been delivered yet', {
        pointer: '/fromPosition',
      });
    }
    if (row.replay_to !== null) throw new CountersignError('replay_under_way', 'a replay of this sink is under way');
    return draft.write({
      op: 'set',
      table: 'sink_cursors',
      where: { sink, replay_to: null },
      set: { replay_position: fromPosition - 1, replay_to: last },
      guard: 'replay',
    });
  }
}
