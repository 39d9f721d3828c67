import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Settings } from '../../config/settings.js';
import { SecretKeeper, type StoredVersion } from '../../secrets/secret-keeper.js';
import { StoredSecrets } from '../../secrets/stored-secrets.js';
import { CommandLog } from '../command-log.js';
import { requireInstallationOperator } from '../own-call.js';
import { PutSecret } from './put-secret.command.js';

@CommandHandler(PutSecret)
export class PutSecretHandler implements ICommandHandler<PutSecret> {
  constructor(
    private readonly log: CommandLog,
    private readonly keeper: SecretKeeper,
    private readonly stored: StoredSecrets,
    private readonly settings: Settings,
  ) {}

  /** @throws CountersignError `not_authorized`, `invalid_request` */
  async execute(command: PutSecret): Promise<StoredVersion> {
    const { caller, name } = command;
    let version: StoredVersion | null = null;
    // Nothing of the value is in what is recorded, not even a digest: short secrets could be guessed from it.
    const asked = { type: 'put_secret', target: { kind: 'secret', name }, details: {}, commandId: null };
    await this.log.carryOut(caller, asked, async (start) => {
      requireInstallationOperator(caller, this.settings);
      const draft = start({ correlationId: `secret/${name}` });
      version = await this.keeper.putIn(draft, name, command.reveal());
      return draft;
    });
    await this.stored.reload();
    if (version === null) throw new Error('a command without a client id was done already');
    return version;
  }
}
