import { Body, Controller, Get, Headers, Param, Post, Query, Req, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApprovalPage, ApprovalRepresentation } from '../client/contract/approvals.js';
import { Settings } from '../config/settings.js';
import { DecideApproval } from '../control/decide-approval/decide-approval.command.js';
import { AllowRoles, CurrentCaller } from '../identity/bearer.guard.js';
import { ROLES, type Caller } from '../identity/caller.js';
import { GetApproval, ListApprovals } from '../runtime/queries/approval.queries.js';
import type { ApprovalView } from '../runtime/views/approval.view.js';
import { approvalPage } from './approval-page.js';
import { DECIDE_APPROVAL, GET_APPROVAL, LIST_APPROVALS } from './approvals.operations.js';
import { commandIdOf } from './command-id.js';
import { readHeaders, type SentHeaders } from './openapi/headers.js';
import { Implements } from './openapi/operation.js';
import { readInput } from './read-input.js';

@Controller('v1/approvals')
export class ApprovalsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly settings: Settings,
  ) {}

  @Get()
  @AllowRoles('approver', 'operator', 'auditor')
  @Implements(LIST_APPROVALS)
  async list(@CurrentCaller() caller: Caller, @Query() query: unknown): Promise<ApprovalPage> {
    const { status, batchId, reviewOwed, limit, cursor } = readInput(LIST_APPROVALS.query, query);
    const { pageMax } = this.settings.limits;
    const page = await this.queries.execute(
      new ListApprovals(caller, status ?? null, Math.min(limit ?? pageMax, pageMax), cursor ?? null, {
        ...(batchId === undefined ? {} : { batchId }),
        ...(reviewOwed === undefined ? {} : { reviewOwedOnly: true }),
      }),
    );
    return { items: page.items.map(represent), nextCursor: page.nextCursor };
  }

  /** JSON, or for a browser the same as a page of escaped text. It has no form: reading never decides. */
  @Get(':approvalId')
  @AllowRoles('approver', 'operator', 'auditor')
  @Implements(GET_APPROVAL)
  async get(
    @CurrentCaller() caller: Caller,
    @Param('approvalId') approvalId: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ApprovalRepresentation | string> {
    const view = await this.queries.execute(new GetApproval(caller, approvalId));
    void reply.header('etag', etagOf(view)).header('cache-control', 'no-store').header('vary', 'accept');
    if (!wantsHtml(request.headers.accept)) return represent(view);
    void reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
      .header('x-content-type-options', 'nosniff')
      .header('referrer-policy', 'no-referrer');
    return approvalPage(represent(view));
  }

  /** Open to every role: who may not decide is refused by the command, and the refusal is recorded. */
  @Post(':approvalId/decision')
  @AllowRoles(...ROLES)
  @Implements(DECIDE_APPROVAL)
  async decide(
    @CurrentCaller() caller: Caller,
    @Param('approvalId') approvalId: string,
    @Body() input: unknown,
    @Headers() sent: SentHeaders,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ApprovalRepresentation> {
    const body = readInput(DECIDE_APPROVAL.body, input);
    const { decision, digest, reason } = body;
    const headers = readHeaders(DECIDE_APPROVAL.headers, sent);
    const decided = await this.commands.execute(
      new DecideApproval(
        caller,
        {
          approvalId,
          decision,
          digest,
          reason: reason ?? null,
          expectedVersion: versionFrom(approvalId, headers['if-match']),
        },
        commandIdOf(body, headers),
      ),
    );
    const view = await this.queries.execute(new GetApproval(caller, approvalId));
    void reply.code(200).header('etag', etagOf(view)).header('countersign-command', decided.commandId);
    return represent(view);
  }
}

export function represent({ version: _, ...view }: ApprovalView): ApprovalRepresentation {
  return view as Omit<ApprovalView, 'version'> & ApprovalRepresentation;
}

export const etagOf = (view: ApprovalView): string => `"${view.approvalId}.${view.version}"`;

/** The version in an `If-Match` of this approval; anything else can never match (-1). */
function versionFrom(approvalId: string, header: string | undefined): number | null {
  if (header === undefined || header.trim() === '*') return null;
  const match = /^"([a-z0-9_]+)\.(\d{1,9})"$/.exec(header.trim());
  return match?.[1] === approvalId ? Number(match[2]) : NEVER;
}

const NEVER = -1;

/** A browser names text/html before anything JSON. */
function wantsHtml(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  const html = accept.indexOf('text/html');
  const json = accept.indexOf('application/json');
  return html !== -1 && (json === -1 || html < json);
}
