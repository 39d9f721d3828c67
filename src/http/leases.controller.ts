import { Body, Controller, Get, Headers, Param, Post, Query, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import type {
  KeySet,
  LeaseIntrospected,
  LeaseKeyRotated,
  LeasePage,
  LeaseRenewed,
  LeaseRepresentation,
} from '../client/contract/leases.js';
import { Settings } from '../config/settings.js';
import {
  IntrospectLease,
  RenewLease,
  RevokeLease,
  RevokeLeases,
  RotateLeaseKey,
} from '../control/leases/lease.commands.js';
import { AllowRoles, CurrentCaller, Public } from '../identity/bearer.guard.js';
import { ROLES, type Caller } from '../identity/caller.js';
import { leaseIssuer, LeaseTokens } from '../policy/leases/lease-tokens.js';
import { GetLease, ListLeases } from '../runtime/queries/lease.queries.js';
import type { LeaseView } from '../runtime/views/lease.view.js';
import { commandIdOf } from './command-id.js';
import {
  GET_KEY_SET,
  GET_LEASE,
  INTROSPECT_LEASE,
  LIST_LEASES,
  RENEW_LEASE,
  REVOKE_LEASE,
  REVOKE_LEASES,
  ROTATE_LEASE_KEY,
} from './leases.operations.js';
import { readHeaders, type SentHeaders } from './openapi/headers.js';
import { Implements } from './openapi/operation.js';
import { readInput } from './read-input.js';

@Controller('v1/leases')
export class LeasesController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly settings: Settings,
  ) {}

  @Get()
  @AllowRoles('operator', 'auditor')
  @Implements(LIST_LEASES)
  async list(@CurrentCaller() caller: Caller, @Query() query: unknown): Promise<LeasePage> {
    const { status = null, toolCallId = null, runId = null, limit, cursor } = readInput(LIST_LEASES.query, query);
    const { pageMax } = this.settings.limits;
    const page = await this.queries.execute(
      new ListLeases(caller, { status, toolCallId, runId }, Math.min(limit ?? pageMax, pageMax), cursor ?? null),
    );
    return { items: page.items.map(represent), nextCursor: page.nextCursor };
  }

  @Get(':leaseId')
  @AllowRoles('operator', 'auditor')
  @Implements(GET_LEASE)
  async get(@CurrentCaller() caller: Caller, @Param('leaseId') leaseId: string): Promise<LeaseRepresentation> {
    return represent(await this.queries.execute(new GetLease(caller, leaseId)));
  }

  @Post('revoke')
  @AllowRoles(...ROLES)
  @Implements(REVOKE_LEASES)
  async revokeMany(
    @CurrentCaller() caller: Caller,
    @Body() input: unknown,
    @Headers() sent: SentHeaders,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ commandId: string; revoked: number }> {
    const body = readInput(REVOKE_LEASES.body, input);
    const { by, value, reason = null } = body;
    const headers = readHeaders(REVOKE_LEASES.headers, sent);
    void reply.code(200);
    return this.commands.execute(new RevokeLeases(caller, { by, value }, reason, commandIdOf(body, headers)));
  }

  /** Answers nobody but whoever presents a token, and never repeats it. */
  @Post('introspect')
  @AllowRoles('connector', 'operator')
  @Implements(INTROSPECT_LEASE)
  async introspect(
    @CurrentCaller() caller: Caller,
    @Body() input: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<LeaseIntrospected> {
    const body = readInput(INTROSPECT_LEASE.body, input);
    const { token, use, toolCallId, attempt, executionEnvironmentId, audience } = body;
    void reply.code(200).header('cache-control', 'no-store');
    const answer = await this.commands.execute(
      new IntrospectLease(caller, {
        token,
        use,
        ...(toolCallId === undefined ? {} : { toolCallId }),
        ...(attempt === undefined ? {} : { attempt }),
        ...(executionEnvironmentId === undefined ? {} : { environmentId: executionEnvironmentId }),
        ...(audience === undefined ? {} : { audience }),
      }),
    );
    if (!answer.ok) return { active: false, code: answer.code };
    const { facts, state } = answer.lease;
    return {
      active: true,
      used: use,
      jti: facts.lease_id,
      iss: leaseIssuer(this.settings),
      ...(state.audience === null ? {} : { aud: state.audience }),
      sub: state.principal.sub,
      scope: state.scopes.join(' '),
      exp: Math.floor(Date.parse(state.expiresAt) / 1000),
      txn: facts.tool_call_id,
      attempt: state.attempt,
      capability: `${state.capability}@${state.capabilityVersion}`,
      args_h: state.argsDigest,
      usesLeft: state.maxUses - state.uses,
    };
  }

  @Post('keys/rotate')
  @AllowRoles(...ROLES)
  @Implements(ROTATE_LEASE_KEY)
  async rotate(
    @CurrentCaller() caller: Caller,
    @Body() input: unknown,
    @Headers() sent: SentHeaders,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<LeaseKeyRotated> {
    const body = readInput(ROTATE_LEASE_KEY.body, input);
    const headers = readHeaders(ROTATE_LEASE_KEY.headers, sent);
    void reply.code(200);
    return this.commands.execute(new RotateLeaseKey(caller, commandIdOf(body, headers)));
  }

  @Post(':leaseId/revoke')
  @AllowRoles(...ROLES)
  @Implements(REVOKE_LEASE)
  async revoke(
    @CurrentCaller() caller: Caller,
    @Param('leaseId') leaseId: string,
    @Body() input: unknown,
    @Headers() sent: SentHeaders,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<LeaseRepresentation> {
    const body = readInput(REVOKE_LEASE.body, input);
    const headers = readHeaders(REVOKE_LEASE.headers, sent);
    await this.commands.execute(new RevokeLease(caller, leaseId, body.reason ?? null, commandIdOf(body, headers)));
    void reply.code(200);
    return represent(await this.queries.execute(new GetLease(caller, leaseId)));
  }

  @Post(':leaseId/renew')
  @AllowRoles('connector', 'operator')
  @Implements(RENEW_LEASE)
  async renew(
    @CurrentCaller() caller: Caller,
    @Param('leaseId') leaseId: string,
    @Body() input: unknown,
    @Headers() sent: SentHeaders,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<LeaseRenewed> {
    const body = readInput(RENEW_LEASE.body, input);
    const headers = readHeaders(RENEW_LEASE.headers, sent);
    const ttlMs = body.ttlSeconds === undefined ? null : body.ttlSeconds * 1000;
    const renewed = await this.commands.execute(
      new RenewLease(
        caller,
        leaseId,
        { scopes: body.scopes ?? null, ttlMs, token: body.token ?? null },
        commandIdOf(body, headers),
      ),
    );
    void reply.code(200).header('cache-control', 'no-store');
    const lease = represent(await this.queries.execute(new GetLease(caller, renewed.leaseId)));
    return { lease, token: renewed.token };
  }
}

/** The public keys of lease tokens, where verifiers look for them. */
@Controller('.well-known')
export class LeaseKeySetController {
  constructor(
    private readonly tokens: LeaseTokens,
    private readonly settings: Settings,
  ) {}

  @Get('jwks.json')
  @Public()
  @Implements(GET_KEY_SET)
  keySet(@Res({ passthrough: true }) reply: FastifyReply): KeySet {
    const seconds = Math.floor(this.settings.leases.keyPublishMs / 1000);
    const keys = this.tokens.jwks().map((key) => ({ ...key }));
    // The first key is made when it is needed and signs at once: nobody may keep that there is none.
    void reply.header('cache-control', keys.length === 0 ? 'no-store' : `public, max-age=${seconds}`);
    return { keys };
  }
}

const represent = ({ scopes, ...view }: LeaseView): LeaseRepresentation => ({ ...view, scopes: [...scopes] });
