import { GetLeaseHandler, ListLeasesHandler } from './lease.queries.js';
import { GetRunViewHandler } from './run-view.queries.js';
import { GetRunHandler } from './run.queries.js';
import { GetTimelineHandler } from './timeline.queries.js';

/** What shows a run, and what was lent in it. */
export const RUN_QUERIES = [GetRunHandler, GetRunViewHandler, GetTimelineHandler, GetLeaseHandler, ListLeasesHandler];
