import { GetRunViewHandler } from './run-view.queries.js';
import { GetRunHandler } from './run.queries.js';
import { GetTimelineHandler } from './timeline.queries.js';

/** What shows a run. */
export const RUN_QUERIES = [GetRunHandler, GetRunViewHandler, GetTimelineHandler];
