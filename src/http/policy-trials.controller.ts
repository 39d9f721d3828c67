import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import type { PolicyPreviewReport, PolicyReplayReport } from '../client/contract/policies.js';
import { Settings } from '../config/settings.js';
import { requireInstallationOperator } from '../control/own-call.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { millisOf, timeAt } from '../domain/events/instant.js';
import { AllowRoles, CurrentCaller } from '../identity/bearer.guard.js';
import type { Caller } from '../identity/caller.js';
import { DecisionReplay, type ReplayedDecision } from '../policy/life/decision-replay.js';
import { PolicyPreview } from '../policy/life/policy-preview.js';
import { PolicyService } from '../policy/policy.service.js';
import { givenPolicyFiles } from '../policy/engine/load-policies.js';
import { Implements } from './openapi/operation.js';
import { PREVIEW_POLICIES, REPLAY_POLICY } from './policies.operations.js';
import { previewReport, replayReport } from './policy-views.js';
import { readInput } from './read-input.js';

const LIMIT = 1000;

/** Questions to policy sets that decide nothing: they write nothing, and run on threads apart. */
@Controller('v1/policies')
export class PolicyTrialsController {
  constructor(
    private readonly previews: PolicyPreview,
    private readonly replays: DecisionReplay,
    private readonly policy: PolicyService,
    private readonly settings: Settings,
  ) {}

  @Post('preview')
  @HttpCode(200)
  @AllowRoles('operator')
  @Implements(PREVIEW_POLICIES)
  async preview(@CurrentCaller() caller: Caller, @Body() input: unknown): Promise<PolicyPreviewReport> {
    requireInstallationOperator(caller, this.settings);
    const { files, limit = LIMIT, from, to } = readInput(PREVIEW_POLICIES.body, input);
    const read = this.policy.candidate(givenPolicyFiles(files));
    const range = {
      limit,
      from: from === undefined ? null : timeAt(millisOf(from)),
      to: to === undefined ? null : timeAt(millisOf(to)),
    };
    return previewReport(read.ok ? await this.previews.run(read.candidate, range) : { report: read.report });
  }

  /** Of one's own tenant: a decision is the tenant's, whoever's the set is. */
  @Post('replay')
  @HttpCode(200)
  @AllowRoles('operator', 'auditor')
  @Implements(REPLAY_POLICY)
  async replay(@CurrentCaller() caller: Caller, @Body() input: unknown): Promise<PolicyReplayReport> {
    const asked = readInput(REPLAY_POLICY.body, input);
    const found =
      'toolCallId' in asked
        ? await this.replays.ofCall(caller.tenant, asked.toolCallId)
        : await this.one(caller, asked.policyDecisionId);
    if (found.length === 0) throw new CountersignError('policy_decision_not_found', 'there is no such decision');
    return replayReport(found);
  }

  private async one(caller: Caller, policyDecisionId: string): Promise<readonly ReplayedDecision[]> {
    const found = await this.replays.one(caller.tenant, policyDecisionId);
    return found === null ? [] : [found];
  }
}
