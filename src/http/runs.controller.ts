import { Controller, Get, Param } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import type { RunRepresentation } from '../client/contract/runs.js';
import { AllowRoles, CurrentCaller } from '../identity/bearer.guard.js';
import type { Caller } from '../identity/caller.js';
import { GetRun } from '../runtime/queries/run.queries.js';
import { Implements } from './openapi/operation.js';
import { GET_RUN } from './runs.operations.js';

@Controller('v1/runs')
export class RunsController {
  constructor(private readonly queries: QueryBus) {}

  @Get(':runId')
  @AllowRoles('harness', 'approver', 'operator', 'auditor')
  @Implements(GET_RUN)
  async get(@CurrentCaller() caller: Caller, @Param('runId') runId: string): Promise<RunRepresentation> {
    const view = await this.queries.execute(new GetRun(caller, runId));
    return { ...view, links: { ...view.links } };
  }
}
