import { Body, Controller, Headers, HttpCode, Param, Post, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import type { DecisionsAnswer, EditedAnswer, RefusedAnswer } from '../client/contract/approval-acts.js';
import type { ApprovalRepresentation } from '../client/contract/approvals.js';
import { ActOnApproval, type ApprovalAct } from '../control/approvals/act-on-approval.command.js';
import { DecideApprovals } from '../control/approvals/decide-approvals.command.js';
import { EditToolCall } from '../control/approvals/edit-tool-call.command.js';
import { RefuseToolCall } from '../control/approvals/refuse-tool-call.command.js';
import type { JsonObject } from '../domain/json/json-value.js';
import { AllowRoles, CurrentCaller } from '../identity/bearer.guard.js';
import { ROLES, type Caller } from '../identity/caller.js';
import { GetApproval } from '../runtime/queries/approval.queries.js';
import {
  BREAK_GLASS,
  DECIDE_APPROVALS,
  DELEGATE_APPROVAL,
  EDIT_APPROVAL,
  ESCALATE_APPROVAL,
  REFUSE_TOOL_CALL,
  REVIEW_BREAK_GLASS,
  REVOKE_APPROVAL_DELEGATION,
  WITHDRAW_VOTE,
} from './approval-acts.operations.js';
import { etagOf, represent } from './approvals.controller.js';
import { commandIdOf } from './command-id.js';
import { readHeaders, type SentHeaders } from './openapi/headers.js';
import { Implements } from './openapi/operation.js';
import { readInput } from './read-input.js';
import { toUtc } from './timestamps.js';

/** What people do about questions. Open to every role: who may not is refused by the command, and that is recorded. */
@Controller('v1')
export class ApprovalActsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
  ) {}

  @Post('approvals/decisions')
  @HttpCode(200)
  @AllowRoles(...ROLES)
  @Implements(DECIDE_APPROVALS)
  async decideMany(
    @CurrentCaller() caller: Caller,
    @Body() input: unknown,
    @Headers() sent: SentHeaders,
  ): Promise<DecisionsAnswer> {
    const body = readInput(DECIDE_APPROVALS.body, input);
    const commandId = commandIdOf(body, readHeaders(DECIDE_APPROVALS.headers, sent));
    const words = body.decisions.map(({ reason, ...word }) => ({
      ...word,
      reason: reason ?? null,
      expectedVersion: null,
    }));
    const decided = await this.commands.execute(new DecideApprovals(caller, words, commandId));
    return {
      items: decided.map((one) =>
        one.result === 'recorded' ? { ...one, code: null, message: null } : { ...one, commandId: null },
      ),
    };
  }

  @Post('approvals/:approvalId/withdrawal')
  @AllowRoles(...ROLES)
  @Implements(WITHDRAW_VOTE)
  withdraw(
    @CurrentCaller() caller: Caller,
    @Param('approvalId') approvalId: string,
    @Body() input: unknown,
    @Headers() sent: SentHeaders,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ApprovalRepresentation> {
    const body = readInput(WITHDRAW_VOTE.body, input);
    const act = { kind: 'withdraw_vote', reason: body.reason ?? null } as const;
    return this.act(caller, approvalId, act, commandIdOf(body, readHeaders(WITHDRAW_VOTE.headers, sent)), reply);
  }

  @Post('approvals/:approvalId/delegate')
  @AllowRoles(...ROLES)
  @Implements(DELEGATE_APPROVAL)
  delegate(
    @CurrentCaller() caller: Caller,
    @Param('approvalId') approvalId: string,
    @Body() input: unknown,
    @Headers() sent: SentHeaders,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ApprovalRepresentation> {
    const body = readInput(DELEGATE_APPROVAL.body, input);
    const { to, until, groups = null, reason = null } = body;
    const act = { kind: 'delegate', to, until: until === undefined ? null : toUtc(until), groups, reason } as const;
    return this.act(caller, approvalId, act, commandIdOf(body, readHeaders(DELEGATE_APPROVAL.headers, sent)), reply);
  }

  @Post('approvals/:approvalId/delegate/revoke')
  @AllowRoles(...ROLES)
  @Implements(REVOKE_APPROVAL_DELEGATION)
  revokeDelegation(
    @CurrentCaller() caller: Caller,
    @Param('approvalId') approvalId: string,
    @Body() input: unknown,
    @Headers() sent: SentHeaders,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ApprovalRepresentation> {
    const body = readInput(REVOKE_APPROVAL_DELEGATION.body, input);
    const act = { kind: 'revoke_delegation', to: body.to, reason: body.reason ?? null } as const;
    const commandId = commandIdOf(body, readHeaders(REVOKE_APPROVAL_DELEGATION.headers, sent));
    return this.act(caller, approvalId, act, commandId, reply);
  }

  @Post('approvals/:approvalId/escalate')
  @AllowRoles(...ROLES)
  @Implements(ESCALATE_APPROVAL)
  escalate(
    @CurrentCaller() caller: Caller,
    @Param('approvalId') approvalId: string,
    @Body() input: unknown,
    @Headers() sent: SentHeaders,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ApprovalRepresentation> {
    const body = readInput(ESCALATE_APPROVAL.body, input);
    const act = { kind: 'escalate', group: body.group, reason: body.reason } as const;
    return this.act(caller, approvalId, act, commandIdOf(body, readHeaders(ESCALATE_APPROVAL.headers, sent)), reply);
  }

  @Post('approvals/:approvalId/break-glass')
  @AllowRoles(...ROLES)
  @Implements(BREAK_GLASS)
  breakGlass(
    @CurrentCaller() caller: Caller,
    @Param('approvalId') approvalId: string,
    @Body() input: unknown,
    @Headers() sent: SentHeaders,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ApprovalRepresentation> {
    const body = readInput(BREAK_GLASS.body, input);
    const act = { kind: 'break_glass', digest: body.digest, reason: body.reason } as const;
    return this.act(caller, approvalId, act, commandIdOf(body, readHeaders(BREAK_GLASS.headers, sent)), reply);
  }

  @Post('approvals/:approvalId/review')
  @AllowRoles(...ROLES)
  @Implements(REVIEW_BREAK_GLASS)
  review(
    @CurrentCaller() caller: Caller,
    @Param('approvalId') approvalId: string,
    @Body() input: unknown,
    @Headers() sent: SentHeaders,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ApprovalRepresentation> {
    const body = readInput(REVIEW_BREAK_GLASS.body, input);
    const act = { kind: 'review', finding: body.finding, reason: body.reason } as const;
    return this.act(caller, approvalId, act, commandIdOf(body, readHeaders(REVIEW_BREAK_GLASS.headers, sent)), reply);
  }

  @Post('approvals/:approvalId/edit')
  @AllowRoles(...ROLES)
  @Implements(EDIT_APPROVAL)
  async edit(
    @CurrentCaller() caller: Caller,
    @Param('approvalId') approvalId: string,
    @Body() input: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<EditedAnswer> {
    const { digest, arguments: args, reason } = readInput(EDIT_APPROVAL.body, input);
    const edited = await this.commands.execute(
      new EditToolCall(caller, approvalId, { digest, args: args as JsonObject, reason }),
    );
    const toolCall = `/v1/tool-calls/${edited.toolCallId}`;
    void reply.code(202).header('location', toolCall);
    const { approvalId: next } = edited;
    return { ...edited, links: { toolCall, ...(next === null ? {} : { approval: `/v1/approvals/${next}` }) } };
  }

  @Post('tool-calls/:toolCallId/refusal')
  @AllowRoles(...ROLES)
  @Implements(REFUSE_TOOL_CALL)
  async refuse(
    @CurrentCaller() caller: Caller,
    @Param('toolCallId') toolCallId: string,
    @Body() input: unknown,
    @Headers() sent: SentHeaders,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RefusedAnswer> {
    const body = readInput(REFUSE_TOOL_CALL.body, input);
    const commandId = commandIdOf(body, readHeaders(REFUSE_TOOL_CALL.headers, sent));
    const refused = await this.commands.execute(new RefuseToolCall(caller, toolCallId, body.reason, commandId));
    void reply.code(200).header('countersign-command', refused.commandId);
    return { toolCallId, status: 'denied', links: { toolCall: `/v1/tool-calls/${toolCallId}` } };
  }

  private async act(
    caller: Caller,
    approvalId: string,
    act: ApprovalAct,
    commandId: string | null,
    reply: FastifyReply,
  ): Promise<ApprovalRepresentation> {
    const done = await this.commands.execute(new ActOnApproval(caller, approvalId, act, commandId));
    const view = await this.queries.execute(new GetApproval(caller, approvalId));
    void reply.code(200).header('etag', etagOf(view)).header('countersign-command', done.commandId);
    return represent(view);
  }
}
