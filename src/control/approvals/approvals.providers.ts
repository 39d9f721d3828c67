import { PLAN_REVIEWS } from '../plan-reviews/plan-reviews.providers.js';
import { ActOnApprovalHandler } from './act-on-approval.handler.js';
import { ConsentGround } from './consent-ground.js';
import { DecideApprovalsHandler } from './decide-approvals.handler.js';
import { EditToolCallHandler } from './edit-tool-call.handler.js';
import { RefuseToolCallHandler } from './refuse-tool-call.handler.js';
import { GiveStandingRightHandler, RevokeStandingRightHandler } from './standing-right.handlers.js';

/** What people do about questions besides deciding one. */
export const APPROVAL_ACTS = [
  ConsentGround,
  ActOnApprovalHandler,
  DecideApprovalsHandler,
  EditToolCallHandler,
  RefuseToolCallHandler,
  GiveStandingRightHandler,
  RevokeStandingRightHandler,
  ...PLAN_REVIEWS,
];
