import { GetPlanReviewHandler, ListPlanReviewsHandler } from './plan-review.queries.js';
import {
  GetDelegationHandler,
  GetGrantHandler,
  ListDelegationsHandler,
  ListGrantsHandler,
} from './standing.queries.js';

/** What shows rights that stand, and plans that people see. */
export const STANDING_QUERIES = [
  GetGrantHandler,
  ListGrantsHandler,
  GetDelegationHandler,
  ListDelegationsHandler,
  GetPlanReviewHandler,
  ListPlanReviewsHandler,
];
