import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Settings } from '../../config/settings.js';
import { KeyRotation, type Rotated } from '../../secrets/key-rotation.js';
import { CommandLog } from '../command-log.js';
import { requireInstallationOperator } from '../own-call.js';
import { RewrapKeys } from './rewrap-keys.command.js';

@CommandHandler(RewrapKeys)
export class RewrapKeysHandler implements ICommandHandler<RewrapKeys> {
  constructor(
    private readonly log: CommandLog,
    private readonly rotation: KeyRotation,
    private readonly settings: Settings,
  ) {}

  /** @throws CountersignError `not_authorized` */
  async execute({ caller }: RewrapKeys): Promise<Rotated> {
    const asked = { type: 'rewrap_keys', target: { kind: 'keys' }, details: {}, commandId: null };
    await this.log.carryOut(caller, asked, async (start) => {
      requireInstallationOperator(caller, this.settings);
      return start({ correlationId: 'keys' });
    });
    return this.rotation.run(caller.actor);
  }
}
