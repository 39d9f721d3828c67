import { Body, Controller, Get, Post, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import type { RevocationListRepresentation, RevocationRepresentation } from '../client/contract/tokens.js';
import { RevokeToken, type RevokedTokens } from '../control/revoke-token/revoke-token.command.js';
import { SecretDirectory } from '../control/secret-directory.js';
import { AllowRoles, CurrentCaller } from '../identity/bearer.guard.js';
import { ROLES, type Caller } from '../identity/caller.js';
import { Implements } from './openapi/operation.js';
import { readInput } from './read-input.js';
import { LIST_REVOCATIONS, REVOKE_TOKEN } from './secrets.operations.js';

/** Tokens that count no more. */
@Controller('v1/tokens')
export class TokensController {
  constructor(
    private readonly commands: CommandBus,
    private readonly directory: SecretDirectory,
  ) {}

  /** Open to every role: who may not is refused by the command, and the refusal is recorded. */
  @Post('revoke')
  @AllowRoles(...ROLES)
  @Implements(REVOKE_TOKEN)
  async revoke(
    @CurrentCaller() caller: Caller,
    @Body() input: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RevocationRepresentation> {
    const body = readInput(REVOKE_TOKEN.body, input);
    const tokens: RevokedTokens =
      'jti' in body
        ? { jti: body.jti }
        : { tenant: body.tenant, sub: body.sub, issuedBefore: isoOf(body.issuedBefore) };
    const revoked = await this.commands.execute(new RevokeToken(caller, tokens, body.reason ?? null));
    void reply.code(201);
    return { revocationId: revoked.revocationId, until: revoked.until };
  }

  @Get('revoked')
  @AllowRoles('operator', 'auditor')
  @Implements(LIST_REVOCATIONS)
  async revoked(@CurrentCaller() caller: Caller): Promise<RevocationListRepresentation> {
    const rows = await this.directory.revocations(caller);
    const items = rows.map((row) => ({
      revocationId: row.revocation_id,
      jti: row.jti,
      tenant: row.tenant,
      sub: row.sub,
      issuedBefore: row.issued_before,
      until: row.until,
      reason: row.reason,
      revokedAt: row.revoked_at,
    }));
    return { items };
  }
}

const isoOf = (time: string | undefined): string | null => (time === undefined ? null : new Date(time).toISOString());
