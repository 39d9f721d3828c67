import {
  GetDelegationHandler,
  GetGrantHandler,
  ListDelegationsHandler,
  ListGrantsHandler,
} from './standing.queries.js';

/** What shows rights that stand. */
export const STANDING_QUERIES = [GetGrantHandler, ListGrantsHandler, GetDelegationHandler, ListDelegationsHandler];
