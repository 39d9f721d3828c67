import { join } from 'node:path';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Settings } from '../../config/settings.js';
import { ID_PREFIXES } from '../../domain/ids/ids.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { Logger } from '../../system/logger.js';
import { requireInstallationOperator } from '../own-call.js';
import { MakeBackup, type MadeBackup } from './make-backup.command.js';

/** Copies go below one directory of the settings: nobody names a path of the server over HTTP. */
@CommandHandler(MakeBackup)
export class MakeBackupHandler implements ICommandHandler<MakeBackup> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly settings: Settings,
    private readonly logger: Logger,
  ) {}

  /** @throws CountersignError `not_authorized`, `backup_running`, `backup_failed` */
  async execute({ caller }: MakeBackup): Promise<MadeBackup> {
    requireInstallationOperator(caller, this.settings);
    const backupId = this.desk.newId(ID_PREFIXES.backup);
    const { dataDir, storage } = this.settings;
    const directory = join(storage.backupDir ?? join(dataDir, 'backups'), backupId);
    const manifest = await this.desk.custody.backup(directory);
    const { size, root } = manifest;
    this.logger.info('a backup was made', { backupId, by: caller.actor.sub, size, root });
    return { backupId, directory, manifest };
  }
}
