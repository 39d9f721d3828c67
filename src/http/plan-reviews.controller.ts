import { Body, Controller, Get, Headers, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import type { PlanReviewPage, PlanReviewRepresentation } from '../client/contract/plan-reviews.js';
import { Settings } from '../config/settings.js';
import { DecidePlanReview } from '../control/plan-reviews/decide-plan-review.js';
import { RequirePlanReview } from '../control/plan-reviews/require-plan-review.js';
import type { JsonValue } from '../domain/json/json-value.js';
import { AllowRoles, CurrentCaller } from '../identity/bearer.guard.js';
import { ROLES, type Caller } from '../identity/caller.js';
import { GetPlanReview, ListPlanReviews, type PlanReviewView } from '../runtime/queries/plan-review.queries.js';
import { commandIdOf } from './command-id.js';
import { readHeaders, type SentHeaders } from './openapi/headers.js';
import { Implements } from './openapi/operation.js';
import {
  DECIDE_PLAN_REVIEW,
  GET_PLAN_REVIEW,
  LIST_PLAN_REVIEWS,
  REQUIRE_PLAN_REVIEW,
} from './plan-reviews.operations.js';
import { readInput } from './read-input.js';

/** Plans that people see. Deciding is open to every role: who may not is refused by the command, on record. */
@Controller('v1')
export class PlanReviewsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly settings: Settings,
  ) {}

  @Post('runs/:runId/plan-reviews')
  @AllowRoles('harness')
  @Implements(REQUIRE_PLAN_REVIEW)
  async require(
    @CurrentCaller() caller: Caller,
    @Param('runId') runId: string,
    @Body() input: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PlanReviewRepresentation> {
    const { plan, decideWithinMs = null } = readInput(REQUIRE_PLAN_REVIEW.body, input);
    const command = new RequirePlanReview(caller, runId, plan as JsonValue, decideWithinMs);
    const { planReviewId, isNew } = await this.commands.execute(command);
    void reply.code(isNew ? 201 : 200);
    return this.show(caller, planReviewId);
  }

  @Get('plan-reviews')
  @AllowRoles('harness', 'approver', 'operator', 'auditor')
  @Implements(LIST_PLAN_REVIEWS)
  async list(@CurrentCaller() caller: Caller, @Query() query: unknown): Promise<PlanReviewPage> {
    const { runId = null, status = null, limit, cursor = null } = readInput(LIST_PLAN_REVIEWS.query, query);
    const { pageMax } = this.settings.limits;
    const size = Math.min(limit ?? pageMax, pageMax);
    const page = await this.queries.execute(new ListPlanReviews(caller, { runId, status }, size, cursor));
    return { items: page.items.map((view: PlanReviewView) => ({ ...view })), nextCursor: page.nextCursor };
  }

  @Get('plan-reviews/:planReviewId')
  @AllowRoles('harness', 'approver', 'operator', 'auditor')
  @Implements(GET_PLAN_REVIEW)
  get(@CurrentCaller() caller: Caller, @Param('planReviewId') planReviewId: string): Promise<PlanReviewRepresentation> {
    return this.show(caller, planReviewId);
  }

  @Post('plan-reviews/:planReviewId/decision')
  @HttpCode(200)
  @AllowRoles(...ROLES)
  @Implements(DECIDE_PLAN_REVIEW)
  async decide(
    @CurrentCaller() caller: Caller,
    @Param('planReviewId') planReviewId: string,
    @Body() input: unknown,
    @Headers() sent: SentHeaders,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PlanReviewRepresentation> {
    const body = readInput(DECIDE_PLAN_REVIEW.body, input);
    const { decision, digest, reason = null } = body;
    const commandId = commandIdOf(body, readHeaders(DECIDE_PLAN_REVIEW.headers, sent));
    const word = { planReviewId, decision, digest, reason };
    const { commandId: carried } = await this.commands.execute(new DecidePlanReview(caller, word, commandId));
    void reply.header('countersign-command', carried);
    return this.show(caller, planReviewId);
  }

  private async show(caller: Caller, planReviewId: string): Promise<PlanReviewRepresentation> {
    return { ...(await this.queries.execute(new GetPlanReview(caller, planReviewId))) };
  }
}
