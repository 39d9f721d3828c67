import { DecidePlanReviewHandler } from './decide-plan-review.js';
import { RequirePlanReviewHandler } from './require-plan-review.js';

/** Plans that people are shown. */
export const PLAN_REVIEWS = [RequirePlanReviewHandler, DecidePlanReviewHandler];
