import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import type { RunRepresentation } from '../client/contract/runs.js';
import { ReportModelCancelled } from '../control/report-model-cancelled/report-model-cancelled.command.js';
import { AllowRoles, CurrentCaller } from '../identity/bearer.guard.js';
import type { Caller } from '../identity/caller.js';
import { GetRun, type RunView } from '../runtime/queries/run.queries.js';
import { Implements } from './openapi/operation.js';
import { GET_RUN, REPORT_MODEL_CANCELLED } from './runs.operations.js';

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
}

/** The view is the representation; the compiler holds the two together. */
const represent = (view: RunView): RunRepresentation => view as RunRepresentation & RunView;
