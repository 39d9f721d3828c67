import { Body, Controller, Get, Param, Post, Put, Req, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AcceptedCommand } from '../client/contract/control.js';
import {
  secretName,
  type RewrappedKeysRepresentation,
  type SecretListRepresentation,
  type StoredSecretRepresentation,
} from '../client/contract/secrets.js';
import { PutSecret } from '../control/put-secret/put-secret.command.js';
import { RetireSecret } from '../control/retire-secret/retire-secret.command.js';
import { RewrapKeys } from '../control/rewrap-keys/rewrap-keys.command.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { AllowRoles, CurrentCaller } from '../identity/bearer.guard.js';
import { ROLES, type Caller } from '../identity/caller.js';
import { SecretDirectory } from '../control/secret-directory.js';
import { Implements } from './openapi/operation.js';
import { arrivedPrivately } from './private-connection.js';
import { readInput } from './read-input.js';
import { LIST_SECRETS, PUT_SECRET, RETIRE_SECRET, REWRAP_KEYS } from './secrets.operations.js';

/** Secrets of the installation: they go in, and only tools ever see them. */
@Controller('v1/secrets')
export class SecretsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly directory: SecretDirectory,
  ) {}

  @Get()
  @AllowRoles('operator', 'auditor')
  @Implements(LIST_SECRETS)
  async list(@CurrentCaller() caller: Caller): Promise<SecretListRepresentation> {
    const versions = await this.directory.secrets(caller);
    const items = versions.map(({ name, version, kek_id, created_at, retired_at }) => ({
      name,
      version,
      kekId: kek_id,
      createdAt: created_at,
      retiredAt: retired_at,
    }));
    return { items };
  }

  /** Open to every role, as the others below: who may not is refused by the command, and the refusal is recorded. */
  @Put(':secret')
  @AllowRoles(...ROLES)
  @Implements(PUT_SECRET)
  async put(
    @CurrentCaller() caller: Caller,
    @Param('secret') written: string,
    @Body() input: unknown,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StoredSecretRepresentation> {
    if (!arrivedPrivately(request.socket)) {
      throw new CountersignError('secret_connection_refused', 'secrets are not taken over a network without TLS');
    }
    const { value } = readInput(PUT_SECRET.body, input);
    const { name, version } = await this.commands.execute(new PutSecret(caller, nameIn(written), value));
    void reply.code(201);
    return { name, version, reference: `secret:${name}@${version}` };
  }

  @Post(':secret/retire')
  @AllowRoles(...ROLES)
  @Implements(RETIRE_SECRET)
  async retire(
    @CurrentCaller() caller: Caller,
    @Param('secret') written: string,
    @Body() input: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AcceptedCommand> {
    const { version } = readInput(RETIRE_SECRET.body, input);
    const { commandId } = await this.commands.execute(new RetireSecret(caller, nameIn(written), version));
    void reply.code(202);
    return { commandId, status: 'accepted', links: { self: `/v1/control/${encodeURIComponent(commandId)}` } };
  }
}

/** The keys that everything in the store lies under. */
@Controller('v1/keys')
export class KeysController {
  constructor(private readonly commands: CommandBus) {}

  @Post('rewrap')
  @AllowRoles(...ROLES)
  @Implements(REWRAP_KEYS)
  async rewrap(
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RewrappedKeysRepresentation> {
    const { kekId, keysRewrapped, previousKekIds } = await this.commands.execute(new RewrapKeys(caller));
    void reply.code(200);
    return { kekId, keysRewrapped, previousKekIds: [...previousKekIds] };
  }
}

function nameIn(written: string): string {
  const name = secretName.safeParse(written);
  if (!name.success) throw new CountersignError('not_found', 'there can be no secret of this name');
  return name.data;
}
