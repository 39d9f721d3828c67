import { Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import type { RunPageRepresentation, TimelineRepresentation } from '../client/contract/run-chain.js';
import type { RunRepresentation } from '../client/contract/runs.js';
import { ReportModelCancelled } from '../control/report-model-cancelled/report-model-cancelled.command.js';
import { AllowRoles, CurrentCaller } from '../identity/bearer.guard.js';
import type { Caller } from '../identity/caller.js';
import { GetRunView, type RunPageView } from '../runtime/queries/run-view.queries.js';
import { GetRun, type RunView } from '../runtime/queries/run.queries.js';
import { GetTimeline, type Timeline } from '../runtime/queries/timeline.queries.js';
import { Implements } from './openapi/operation.js';
import { GET_RUN_VIEW, GET_TIMELINE } from './run-chain.operations.js';
import { GET_RUN, REPORT_MODEL_CANCELLED } from './runs.operations.js';
import { readInput } from './read-input.js';

const TIMELINE_PAGE = 100;

@Controller('v1/runs')
export class RunsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
  ) {}

  @Get(':runId')
  @AllowRoles('harness', 'approver', 'operator', 'auditor')
  @Implements(GET_RUN)
  async get(@CurrentCaller() caller: Caller, @Param('runId') runId: string): Promise<RunRepresentation> {
    const view = await this.queries.execute(new GetRun(caller, runId));
    return represent(view);
  }

  /** A report, not a wish: the harness says that its model generates no more for this run. */
  @Post(':runId/model-cancelled')
  @HttpCode(200)
  @AllowRoles('harness')
  @Implements(REPORT_MODEL_CANCELLED)
  async modelCancelled(@CurrentCaller() caller: Caller, @Param('runId') runId: string): Promise<RunRepresentation> {
    await this.commands.execute(new ReportModelCancelled(caller, runId));
    return represent(await this.queries.execute(new GetRun(caller, runId)));
  }

  @Get(':runId/view')
  @AllowRoles('harness', 'approver', 'operator', 'auditor')
  @Implements(GET_RUN_VIEW)
  async view(@CurrentCaller() caller: Caller, @Param('runId') runId: string): Promise<RunPageRepresentation> {
    return representPage(await this.queries.execute(new GetRunView(caller, runId)));
  }

  @Get(':runId/timeline')
  @AllowRoles('operator', 'auditor')
  @Implements(GET_TIMELINE)
  async timeline(
    @CurrentCaller() caller: Caller,
    @Param('runId') runId: string,
    @Query() query: unknown,
  ): Promise<TimelineRepresentation> {
    const { toolCallId = null, after = '-1', limit = TIMELINE_PAGE } = readInput(GET_TIMELINE.query, query);
    const request = { runId, toolCallId, after: Number(after), limit };
    return representTimeline(await this.queries.execute(new GetTimeline(caller, request)));
  }
}

/** The view is the representation; the compiler holds the two together. */
const represent = (view: RunView): RunRepresentation => view as RunRepresentation & RunView;
/** The views are the representations; the compiler holds the two together. */
const representPage = (view: RunPageView): RunPageRepresentation => view as RunPageRepresentation & RunPageView;
const representTimeline = (timeline: Timeline): TimelineRepresentation =>
  timeline as unknown as TimelineRepresentation & Timeline;
