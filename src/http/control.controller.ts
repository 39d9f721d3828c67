import { Body, Controller, Get, Headers, Param, Post, Res } from '@nestjs/common';
import { CommandBus, QueryBus, type Command } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import type {
  AcceptedCommand,
  CommandRepresentation,
  ControlBody,
  PauseTarget as WireTarget,
} from '../client/contract/control.js';
import { AcceptRestore } from '../control/accept-restore/accept-restore.command.js';
import { CancelToolCall } from '../control/cancel-tool-call/cancel-tool-call.command.js';
import type { Acknowledged } from '../control/command-log.js';
import { DecideApproval } from '../control/decide-approval/decide-approval.command.js';
import { ReloadPolicies } from '../control/reload-policies/reload-policies.command.js';
import { ResumeAuthorized } from '../control/resume-authorized/resume-authorized.command.js';
import { ReloadSession } from '../control/reload-session/reload-session.command.js';
import { RetryToolCall } from '../control/retry-tool-call/retry-tool-call.command.js';
import { ResumeRun } from '../control/resume-run/resume-run.command.js';
import { SetPause, type PauseTarget } from '../control/set-pause/set-pause.command.js';
import { StopRun } from '../control/stop-run/stop-run.command.js';
import { SuspendRun } from '../control/suspend-run/suspend-run.command.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { AllowRoles, CurrentCaller } from '../identity/bearer.guard.js';
import { ROLES, type Caller } from '../identity/caller.js';
import { GetCommand } from '../runtime/queries/command.queries.js';
import { commandIdOf } from './command-id.js';
import { GET_COMMAND, ISSUE_COMMAND } from './control.operations.js';
import { readHeaders, type SentHeaders } from './openapi/headers.js';
import { Implements } from './openapi/operation.js';
import { readInput } from './read-input.js';

@Controller('v1/control')
export class ControlController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
  ) {}

  /** Open to every role: who may not is refused by the command, and the refusal is recorded. */
  @Post()
  @AllowRoles(...ROLES)
  @Implements(ISSUE_COMMAND)
  async issue(
    @CurrentCaller() caller: Caller,
    @Body() input: unknown,
    @Headers() sent: SentHeaders,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AcceptedCommand> {
    const body = readInput(ISSUE_COMMAND.body, input);
    const headers = readHeaders(ISSUE_COMMAND.headers, sent);
    const { commandId } = await this.commands.execute<Command<Acknowledged>, Acknowledged>(
      commandOf(caller, body, commandIdOf(body, headers)),
    );
    void reply.code(202);
    return { commandId, status: 'accepted', links: { self: `/v1/control/${encodeURIComponent(commandId)}` } };
  }

  @Get(':commandId')
  @AllowRoles(...ROLES)
  @Implements(GET_COMMAND)
  async get(@CurrentCaller() caller: Caller, @Param('commandId') commandId: string): Promise<CommandRepresentation> {
    const view = await this.queries.execute(new GetCommand(caller, commandId));
    return { ...view, eventIds: [...view.eventIds], links: { ...view.links } };
  }
}

function commandOf(caller: Caller, body: ControlBody, commandId: string | null): Command<Acknowledged> {
  const reason = body.reason ?? null;
  switch (body.type) {
    case 'resume':
      return 'runId' in body.target
        ? resumeRun(caller, body.target.runId, body, commandId)
        : decide(caller, body.target.approvalId, body, commandId);
    case 'stop':
      return new StopRun(caller, body.target.runId, body.modelActive ?? false, reason, commandId);
    case 'suspend':
      return new SuspendRun(caller, body.target.runId, reason, commandId);
    case 'resume_authorized':
      return new ResumeAuthorized(caller, reason, commandId);
    case 'cancel':
      return new CancelToolCall(caller, body.target.toolCallId, reason, commandId);
    case 'retry':
      return new RetryToolCall(caller, body.target.toolCallId, reason, commandId);
    case 'pause':
    case 'unpause':
      return new SetPause(caller, body.type === 'pause', pauseTarget(caller, body.target), reason, commandId);
    case 'accept_restore':
      return new AcceptRestore(caller, body.reason, commandId);
    case 'reload':
      return body.target === 'policies'
        ? new ReloadPolicies(caller, reason, commandId)
        : new ReloadSession(caller, body.target.sessionId, reason, commandId);
  }
}

type ResumeBody = Extract<ControlBody, { readonly type: 'resume' }>;

function decide(caller: Caller, approvalId: string, body: ResumeBody, commandId: string | null): DecideApproval {
  const { decision, digest, reason = null } = body;
  if (decision === undefined) throw missing('/decision');
  if (digest === undefined) throw missing('/digest');
  return new DecideApproval(caller, { approvalId, decision, digest, reason, expectedVersion: null }, commandId);
}

function resumeRun(caller: Caller, runId: string, body: ResumeBody, commandId: string | null): ResumeRun {
  const { decision, digest, reason = null } = body;
  if (decision !== undefined || digest !== undefined) {
    const pointer = decision === undefined ? '/digest' : '/decision';
    throw new CountersignError('invalid_request', `${pointer}: belongs to an approval, not to a run`, { pointer });
  }
  return new ResumeRun(caller, runId, reason, commandId);
}

const missing = (pointer: string): CountersignError =>
  new CountersignError('invalid_request', `${pointer}: is required to decide an approval`, { pointer });

function pauseTarget(caller: Caller, target: WireTarget): PauseTarget {
  if (target === 'all') return { kind: 'all', value: '' };
  if (target === 'tenant') return { kind: 'tenant', value: caller.tenant };
  if ('agent' in target) return { kind: 'agent', value: target.agent };
  return 'principal' in target
    ? { kind: 'principal', value: target.principal }
    : { kind: 'capability', value: target.capability };
}
