import { Controller, Post, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import type { BackupRepresentation } from '../client/contract/backups.js';
import { MakeBackup } from '../control/make-backup/make-backup.command.js';
import { AllowRoles, CurrentCaller } from '../identity/bearer.guard.js';
import type { Caller } from '../identity/caller.js';
import { MAKE_BACKUP } from './backups.operations.js';
import { Implements } from './openapi/operation.js';

@Controller('v1/backups')
export class BackupsController {
  constructor(private readonly commands: CommandBus) {}

  @Post()
  @AllowRoles('operator')
  @Implements(MAKE_BACKUP)
  async make(
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<BackupRepresentation> {
    const { backupId, directory, manifest } = await this.commands.execute(new MakeBackup(caller));
    const { createdAt, productVersion, schemaVersion, size, root, bytes, sha256 } = manifest;
    void reply.code(201);
    return { backupId, directory, createdAt, productVersion, schemaVersion, size, root, bytes, sha256 };
  }
}
