import type { Type } from '@nestjs/common';
import { ToolCallsController } from './tool-calls.controller.js';
import { ApprovalsController } from './approvals.controller.js';
import { ApprovalActsController } from './approval-acts.controller.js';
import { StandingRightsController } from './standing-rights.controller.js';
import { PlanReviewsController } from './plan-reviews.controller.js';
import { ControlController } from './control.controller.js';
import { CapabilitiesController } from './capabilities.controller.js';
import { RunsController } from './runs.controller.js';
import { RunChainController } from './run-chain.controller.js';
import { SessionsController } from './sessions.controller.js';
import { SessionLogController } from './session-log.controller.js';
import { EventsController } from './events.controller.js';
import { OutboxController } from './outbox.controller.js';
import { BackupsController } from './backups.controller.js';
import { KeysController, SecretsController } from './secrets.controller.js';
import { TokensController } from './tokens.controller.js';
import { LateEvidenceController } from './late-evidence.controller.js';
import { FeedbackController } from './feedback.controller.js';
import { LeaseKeySetController, LeasesController } from './leases.controller.js';
import { PoliciesController } from './policies.controller.js';
import { PolicyTrialsController } from './policy-trials.controller.js';
import { HealthController } from './health.controller.js';
import { MetricsController } from './metrics.controller.js';
import { OpenApiController } from './openapi/openapi.controller.js';

/** What they serve is in `/openapi.json`. */
export const CONTROLLERS: Type[] = [
  ToolCallsController,
  ApprovalsController,
  ApprovalActsController,
  StandingRightsController,
  PlanReviewsController,
  ControlController,
  CapabilitiesController,
  RunsController,
  RunChainController,
  SessionsController,
  SessionLogController,
  EventsController,
  OutboxController,
  BackupsController,
  SecretsController,
  KeysController,
  TokensController,
  LateEvidenceController,
  FeedbackController,
  LeasesController,
  LeaseKeySetController,
  PoliciesController,
  PolicyTrialsController,
  HealthController,
  MetricsController,
  OpenApiController,
];
