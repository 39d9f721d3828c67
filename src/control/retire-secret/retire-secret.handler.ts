import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Settings } from '../../config/settings.js';
import { SecretKeeper } from '../../secrets/secret-keeper.js';
import { StoredSecrets } from '../../secrets/stored-secrets.js';
import { CommandLog, type Acknowledged } from '../command-log.js';
import { requireInstallationOperator } from '../own-call.js';
import { RetireSecret } from './retire-secret.command.js';

@CommandHandler(RetireSecret)
export class RetireSecretHandler implements ICommandHandler<RetireSecret> {
  constructor(
    private readonly log: CommandLog,
    private readonly keeper: SecretKeeper,
    private readonly stored: StoredSecrets,
    private readonly settings: Settings,
  ) {}

  /** @throws CountersignError `not_authorized`, `secret_not_found`, `secret_in_use` */
  async execute({ caller, name, version }: RetireSecret): Promise<Acknowledged> {
    const target = { kind: 'secret', name, version };
    const asked = { type: 'retire_secret', target, details: {}, commandId: null };
    const acknowledged = await this.log.carryOut(caller, asked, async (start) => {
      requireInstallationOperator(caller, this.settings);
      const draft = start({ correlationId: `secret/${name}` });
      await this.keeper.retireIn(draft, name, version);
      return draft;
    });
    await this.stored.reload();
    return acknowledged;
  }
}
