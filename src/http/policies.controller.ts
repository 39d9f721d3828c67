import { Body, Controller, Delete, Get, Headers, HttpCode, Param, Post } from '@nestjs/common';
import { CommandBus, type Command } from '@nestjs/cqrs';
import type { AcceptedCommand } from '../client/contract/control.js';
import type {
  PolicyOverview,
  PolicyShadowReport,
  ProposedActivation,
  StoredPolicySet,
} from '../client/contract/policies.js';
import { Settings } from '../config/settings.js';
import type { Acknowledged } from '../control/command-log.js';
import { DecidePolicyActivation } from '../control/decide-policy-activation/decide-policy-activation.command.js';
import { ProposePolicyActivation } from '../control/propose-policy-activation/propose-policy-activation.command.js';
import { SetPolicyShadow } from '../control/set-policy-shadow/set-policy-shadow.command.js';
import { AllowRoles, CurrentCaller } from '../identity/bearer.guard.js';
import { ROLES, type Caller } from '../identity/caller.js';
import { commandIdOf } from './command-id.js';
import { readHeaders, type SentHeaders } from './openapi/headers.js';
import { Implements } from './openapi/operation.js';
import {
  CLEAR_POLICY_SHADOW,
  DECIDE_ACTIVATION,
  GET_POLICY_SET,
  GET_POLICY_SHADOW,
  LIST_POLICIES,
  PROPOSE_ACTIVATION,
  SET_POLICY_SHADOW,
} from './policies.operations.js';
import { PolicyViews } from './policy-views.js';
import { readInput } from './read-input.js';

/** Policy sets: what is in force, what shadows it, and how another one comes into force. */
@Controller('v1/policies')
export class PoliciesController {
  constructor(
    private readonly commands: CommandBus,
    private readonly views: PolicyViews,
    private readonly settings: Settings,
  ) {}

  @Get()
  @AllowRoles('operator', 'auditor')
  @Implements(LIST_POLICIES)
  list(@CurrentCaller() caller: Caller): Promise<PolicyOverview> {
    this.views.mustBeOfInstallation(caller, this.settings);
    return this.views.overview();
  }

  @Get('sets/:revision')
  @AllowRoles('operator', 'auditor')
  @Implements(GET_POLICY_SET)
  set(@CurrentCaller() caller: Caller, @Param('revision') revision: string): Promise<StoredPolicySet> {
    this.views.mustBeOfInstallation(caller, this.settings);
    return this.views.set(revision);
  }

  @Get('shadow')
  @AllowRoles('operator', 'auditor')
  @Implements(GET_POLICY_SHADOW)
  shadow(@CurrentCaller() caller: Caller): Promise<PolicyShadowReport> {
    this.views.mustBeOfInstallation(caller, this.settings);
    return this.views.shadow();
  }

  /** Commands are open to every role: who may not is refused by the command, and the refusal is recorded. */
  @Post('shadow')
  @HttpCode(202)
  @AllowRoles(...ROLES)
  @Implements(SET_POLICY_SHADOW)
  setShadow(
    @CurrentCaller() caller: Caller,
    @Body() input: unknown,
    @Headers() sent: SentHeaders,
  ): Promise<AcceptedCommand> {
    const body = readInput(SET_POLICY_SHADOW.body, input);
    const commandId = commandIdOf(body, readHeaders(SET_POLICY_SHADOW.headers, sent));
    const choice = 'revision' in body ? { revision: body.revision } : { files: body.files };
    return this.accept(new SetPolicyShadow(caller, choice, body.reason ?? null, commandId));
  }

  @Delete('shadow')
  @HttpCode(202)
  @AllowRoles(...ROLES)
  @Implements(CLEAR_POLICY_SHADOW)
  clearShadow(@CurrentCaller() caller: Caller, @Headers() sent: SentHeaders): Promise<AcceptedCommand> {
    const commandId = commandIdOf({}, readHeaders(CLEAR_POLICY_SHADOW.headers, sent));
    return this.accept(new SetPolicyShadow(caller, null, null, commandId));
  }

  @Post('activate')
  @HttpCode(202)
  @AllowRoles(...ROLES)
  @Implements(PROPOSE_ACTIVATION)
  async propose(
    @CurrentCaller() caller: Caller,
    @Body() input: unknown,
    @Headers() sent: SentHeaders,
  ): Promise<ProposedActivation> {
    const body = readInput(PROPOSE_ACTIVATION.body, input);
    const commandId = commandIdOf(body, readHeaders(PROPOSE_ACTIVATION.headers, sent));
    const files = 'files' in body ? body.files : null;
    const proposed = await this.commands.execute(new ProposePolicyActivation(caller, files, body.reason, commandId));
    return { ...answerOf(proposed), activationId: proposed.activationId };
  }

  @Post('activations/:activationId/decision')
  @HttpCode(202)
  @AllowRoles(...ROLES)
  @Implements(DECIDE_ACTIVATION)
  decide(
    @CurrentCaller() caller: Caller,
    @Param('activationId') activationId: string,
    @Body() input: unknown,
    @Headers() sent: SentHeaders,
  ): Promise<AcceptedCommand> {
    const body = readInput(DECIDE_ACTIVATION.body, input);
    const { decision, revision, reason = null } = body;
    const commandId = commandIdOf(body, readHeaders(DECIDE_ACTIVATION.headers, sent));
    const word = { activationId, decision, revision, reason };
    return this.accept(new DecidePolicyActivation(caller, word, commandId));
  }

  private async accept(command: Command<Acknowledged>): Promise<AcceptedCommand> {
    return answerOf(await this.commands.execute<Command<Acknowledged>, Acknowledged>(command));
  }
}

function answerOf({ commandId }: Acknowledged): AcceptedCommand {
  return { commandId, status: 'accepted', links: { self: `/v1/control/${encodeURIComponent(commandId)}` } };
}
