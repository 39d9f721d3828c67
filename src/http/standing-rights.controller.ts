import { Body, Controller, Get, Headers, Param, Post, Query, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import type {
  DelegationPage,
  DelegationRepresentation,
  GrantPage,
  GrantRepresentation,
} from '../client/contract/approval-acts.js';
import { Settings } from '../config/settings.js';
import { GiveStandingRight, RevokeStandingRight } from '../control/approvals/standing-right.command.js';
import type { JsonObject } from '../domain/json/json-value.js';
import { AllowRoles, CurrentCaller } from '../identity/bearer.guard.js';
import { ROLES, type Caller } from '../identity/caller.js';
import {
  GetDelegation,
  GetGrant,
  ListDelegations,
  ListGrants,
  type DelegationView,
  type GrantView,
} from '../runtime/queries/standing.queries.js';
import { commandIdOf } from './command-id.js';
import { readHeaders, type SentHeaders } from './openapi/headers.js';
import { Implements } from './openapi/operation.js';
import { readInput } from './read-input.js';
import {
  CREATE_DELEGATION,
  CREATE_GRANT,
  GET_GRANT,
  LIST_DELEGATIONS,
  LIST_GRANTS,
  REVOKE_DELEGATION,
  REVOKE_GRANT,
} from './standing-rights.operations.js';
import { toUtc } from './timestamps.js';

/** Rights that people give for a time. Writing is open to every role: who may not is refused by the command, on record. */
@Controller('v1')
export class StandingRightsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly settings: Settings,
  ) {}

  @Post('grants')
  @AllowRoles(...ROLES)
  @Implements(CREATE_GRANT)
  async createGrant(
    @CurrentCaller() caller: Caller,
    @Body() input: unknown,
    @Headers() sent: SentHeaders,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<GrantRepresentation> {
    const body = readInput(CREATE_GRANT.body, input);
    const terms = {
      kind: 'grant',
      capability: body.capability,
      group: body.group,
      principalSub: body.principal?.sub ?? null,
      principalAct: body.principal?.act ?? null,
      argumentsEqual: (body.argumentsEqual ?? null) as JsonObject | null,
      until: toUtc(body.until),
      reason: body.reason,
    } as const;
    const commandId = commandIdOf(body, readHeaders(CREATE_GRANT.headers, sent));
    const given = await this.commands.execute(new GiveStandingRight(caller, terms, commandId));
    void reply.code(201).header('countersign-command', given.commandId);
    return grant(await this.queries.execute(new GetGrant(caller, given.id)));
  }

  @Get('grants')
  @AllowRoles('approver', 'operator', 'auditor')
  @Implements(LIST_GRANTS)
  async listGrants(@CurrentCaller() caller: Caller, @Query() query: unknown): Promise<GrantPage> {
    const { limit, cursor = null } = readInput(LIST_GRANTS.query, query);
    const page = await this.queries.execute(new ListGrants(caller, this.limit(limit), cursor));
    return { items: page.items.map(grant), nextCursor: page.nextCursor };
  }

  @Get('grants/:grantId')
  @AllowRoles('approver', 'operator', 'auditor')
  @Implements(GET_GRANT)
  async getGrant(@CurrentCaller() caller: Caller, @Param('grantId') grantId: string): Promise<GrantRepresentation> {
    return grant(await this.queries.execute(new GetGrant(caller, grantId)));
  }

  @Post('grants/:grantId/revoke')
  @AllowRoles(...ROLES)
  @Implements(REVOKE_GRANT)
  async revokeGrant(
    @CurrentCaller() caller: Caller,
    @Param('grantId') grantId: string,
    @Body() input: unknown,
    @Headers() sent: SentHeaders,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<GrantRepresentation> {
    const body = readInput(REVOKE_GRANT.body, input);
    const commandId = commandIdOf(body, readHeaders(REVOKE_GRANT.headers, sent));
    const command = new RevokeStandingRight(caller, 'grant', grantId, body.reason ?? null, commandId);
    const revoked = await this.commands.execute(command);
    void reply.code(200).header('countersign-command', revoked.commandId);
    return grant(await this.queries.execute(new GetGrant(caller, grantId)));
  }

  @Post('delegations')
  @AllowRoles(...ROLES)
  @Implements(CREATE_DELEGATION)
  async createDelegation(
    @CurrentCaller() caller: Caller,
    @Body() input: unknown,
    @Headers() sent: SentHeaders,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DelegationRepresentation> {
    const body = readInput(CREATE_DELEGATION.body, input);
    const { to, groups = null, reason = null } = body;
    const terms = { kind: 'delegation', to, groups, until: toUtc(body.until), reason } as const;
    const commandId = commandIdOf(body, readHeaders(CREATE_DELEGATION.headers, sent));
    const given = await this.commands.execute(new GiveStandingRight(caller, terms, commandId));
    void reply.code(201).header('countersign-command', given.commandId);
    return delegation(await this.queries.execute(new GetDelegation(caller, given.id)));
  }

  @Get('delegations')
  @AllowRoles('approver', 'operator', 'auditor')
  @Implements(LIST_DELEGATIONS)
  async listDelegations(@CurrentCaller() caller: Caller, @Query() query: unknown): Promise<DelegationPage> {
    const { limit, cursor = null } = readInput(LIST_DELEGATIONS.query, query);
    const page = await this.queries.execute(new ListDelegations(caller, this.limit(limit), cursor));
    return { items: page.items.map(delegation), nextCursor: page.nextCursor };
  }

  @Post('delegations/:delegationId/revoke')
  @AllowRoles(...ROLES)
  @Implements(REVOKE_DELEGATION)
  async revokeDelegation(
    @CurrentCaller() caller: Caller,
    @Param('delegationId') delegationId: string,
    @Body() input: unknown,
    @Headers() sent: SentHeaders,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DelegationRepresentation> {
    const body = readInput(REVOKE_DELEGATION.body, input);
    const commandId = commandIdOf(body, readHeaders(REVOKE_DELEGATION.headers, sent));
    const command = new RevokeStandingRight(caller, 'delegation', delegationId, body.reason ?? null, commandId);
    const revoked = await this.commands.execute(command);
    void reply.code(200).header('countersign-command', revoked.commandId);
    return delegation(await this.queries.execute(new GetDelegation(caller, delegationId)));
  }

  private limit(asked: number | undefined): number {
    const { pageMax } = this.settings.limits;
    return Math.min(asked ?? pageMax, pageMax);
  }
}

const grant = (view: GrantView): GrantRepresentation => view as GrantView & GrantRepresentation;
const delegation = (view: DelegationView): DelegationRepresentation =>
  view as DelegationView & DelegationRepresentation;
