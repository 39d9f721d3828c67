import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { StoreHold } from '../../capabilities/store-hold.js';
import { Settings } from '../../config/settings.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { CommandLog, type Acknowledged } from '../command-log.js';
import { requireInstallationOperator } from '../own-call.js';
import { AcceptRestore } from './accept-restore.command.js';

/** Ends the hold of the store, on record: with the size and root that were known and those that are kept from now on. */
@CommandHandler(AcceptRestore)
export class AcceptRestoreHandler implements ICommandHandler<AcceptRestore> {
  constructor(
    private readonly log: CommandLog,
    private readonly hold: StoreHold,
    private readonly settings: Settings,
  ) {}

  async execute({ caller, reason, commandId }: AcceptRestore): Promise<Acknowledged> {
    const asked = { type: 'accept_restore', target: { kind: 'store' }, details: { reason }, commandId };
    let ends = false;
    const acknowledged = await this.log.carryOut(caller, asked, async (start) => {
      requireInstallationOperator(caller, this.settings);
      const { current } = this.hold;
      if (current === null) throw new CountersignError('store_not_held', 'the store is not held');
      const draft = start({ correlationId: 'restore' });
      await this.hold.acceptIn(draft, current, reason);
      ends = true;
      return draft;
    });
    if (ends) await this.hold.accepted();
    return acknowledged;
  }
}
