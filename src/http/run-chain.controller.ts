import { Body, Controller, HttpCode, Param, Post, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import type {
  ArtifactRepresentation,
  ReasoningRepresentation,
  SubagentEndRepresentation,
  SubagentRepresentation,
  TurnRepresentation,
} from '../client/contract/run-chain.js';
import type { RunRepresentation } from '../client/contract/runs.js';
import { EndRun, type RunEnding } from '../control/end-run/end-run.command.js';
import { EndSubagent } from '../control/end-subagent/end-subagent.command.js';
import { OpenRun } from '../control/open-run/open-run.command.js';
import { RecordInRun, type Recorded, type Statement } from '../control/record-in-run/record-in-run.command.js';
import { AllowRoles, CurrentCaller } from '../identity/bearer.guard.js';
import type { Caller } from '../identity/caller.js';
import { GetRun, type RunView } from '../runtime/queries/run.queries.js';
import { Implements } from './openapi/operation.js';
import { readInput } from './read-input.js';
import {
  COMPLETE_RUN,
  END_SUBAGENT,
  FAIL_RUN,
  OPEN_RUN,
  OPEN_TURN,
  RECORD_ARTIFACT,
  RECORD_REASONING,
  SPAWN_SUBAGENT,
} from './run-chain.operations.js';

/** What a harness states about its runs: the causal chain. Each answer means that it is durable. */
@Controller('v1')
export class RunChainController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
  ) {}

  @Post('runs')
  @AllowRoles('harness')
  @Implements(OPEN_RUN)
  async open(
    @CurrentCaller() caller: Caller,
    @Body() input: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RunRepresentation> {
    const { label, goalRef } = readInput(OPEN_RUN.body, input);
    const { runId, opened } = await this.commands.execute(new OpenRun(caller, label, goalRef ?? null));
    void reply.code(opened ? 201 : 200).header('location', `/v1/runs/${runId}`);
    return this.show(caller, runId);
  }

  @Post('runs/:runId/turns')
  @AllowRoles('harness')
  @Implements(OPEN_TURN)
  async turn(
    @CurrentCaller() caller: Caller,
    @Param('runId') runId: string,
    @Body() input: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TurnRepresentation> {
    const { clientId } = readInput(OPEN_TURN.body, input);
    const { objectId, ...rest } = await this.record(caller, runId, { kind: 'turn', clientId }, reply);
    return { turnId: objectId, ...answer(rest), links: { reasoning: `/v1/turns/${objectId}/reasoning` } };
  }

  @Post('turns/:turnId/reasoning')
  @AllowRoles('harness')
  @Implements(RECORD_REASONING)
  async reasoning(
    @CurrentCaller() caller: Caller,
    @Param('turnId') turnId: string,
    @Body() input: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ReasoningRepresentation> {
    const {
      clientId,
      intentId = null,
      skillId = null,
      contextBuildId = null,
      suggestedAction = null,
      ...judgement
    } = readInput(RECORD_REASONING.body, input);
    const reasoning = { ...judgement, contextBuildId, suggestedAction };
    const statement = { kind: 'reasoning', clientId, turnId, intentId, skillId, reasoning } as const;
    const { objectId, ...rest } = await this.record(caller, null, statement, reply);
    return { reasoningObjectId: objectId, turnId, ...answer(rest) };
  }

  @Post('runs/:runId/artifacts')
  @AllowRoles('harness')
  @Implements(RECORD_ARTIFACT)
  async artifact(
    @CurrentCaller() caller: Caller,
    @Param('runId') runId: string,
    @Body() input: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ArtifactRepresentation> {
    const body = readInput(RECORD_ARTIFACT.body, input);
    const { clientId, reasoningObjectId = null, toolCallId = null, title = null, ...rendered } = body;
    const artifact = { ...rendered, title };
    const statement = { kind: 'artifact', clientId, reasoningObjectId, toolCallId, artifact } as const;
    const { objectId, ...rest } = await this.record(caller, runId, statement, reply);
    return { artifactId: objectId, ...answer(rest) };
  }

  @Post('runs/:runId/subagents')
  @AllowRoles('harness')
  @Implements(SPAWN_SUBAGENT)
  async subagent(
    @CurrentCaller() caller: Caller,
    @Param('runId') runId: string,
    @Body() input: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SubagentRepresentation> {
    const { clientId, toolCallId = null, ...spawning } = readInput(SPAWN_SUBAGENT.body, input);
    const { objectId, ...rest } = await this.record(
      caller,
      runId,
      { kind: 'subagent', clientId, toolCallId, spawning },
      reply,
    );
    return { subagentId: objectId, ...answer(rest), links: { end: `/v1/runs/${runId}/subagents/${objectId}/end` } };
  }

  @Post('runs/:runId/subagents/:subagentId/end')
  @HttpCode(200)
  @AllowRoles('harness')
  @Implements(END_SUBAGENT)
  async endSubagent(
    @CurrentCaller() caller: Caller,
    @Param('runId') runId: string,
    @Param('subagentId') subagentId: string,
    @Body() input: unknown,
  ): Promise<SubagentEndRepresentation> {
    const { status, resultRef = null } = readInput(END_SUBAGENT.body, input);
    return this.commands.execute(new EndSubagent(caller, runId, subagentId, { status, resultRef }));
  }

  @Post('runs/:runId/complete')
  @HttpCode(200)
  @AllowRoles('harness')
  @Implements(COMPLETE_RUN)
  async complete(
    @CurrentCaller() caller: Caller,
    @Param('runId') runId: string,
    @Body() input: unknown,
  ): Promise<RunRepresentation> {
    readInput(COMPLETE_RUN.body, input);
    return this.end(caller, runId, { how: 'complete' });
  }

  @Post('runs/:runId/fail')
  @HttpCode(200)
  @AllowRoles('harness')
  @Implements(FAIL_RUN)
  async fail(
    @CurrentCaller() caller: Caller,
    @Param('runId') runId: string,
    @Body() input: unknown,
  ): Promise<RunRepresentation> {
    const { code, message = null } = readInput(FAIL_RUN.body, input);
    return this.end(caller, runId, { how: 'fail', code, message });
  }

  private async record(
    caller: Caller,
    runId: string | null,
    statement: Statement,
    reply: FastifyReply,
  ): Promise<Recorded> {
    const recorded = await this.commands.execute(new RecordInRun(caller, runId, statement));
    void reply.code(recorded.replayed ? 200 : 201);
    return recorded;
  }

  private async end(caller: Caller, runId: string, ending: RunEnding): Promise<RunRepresentation> {
    await this.commands.execute(new EndRun(caller, runId, ending));
    return this.show(caller, runId);
  }

  private async show(caller: Caller, runId: string): Promise<RunRepresentation> {
    const view = await this.queries.execute(new GetRun(caller, runId));
    return view as RunRepresentation & RunView;
  }
}

function answer({ runId, replayed }: Omit<Recorded, 'objectId'>) {
  return { runId, replayed, links: { run: `/v1/runs/${runId}` } as Record<string, string> };
}
