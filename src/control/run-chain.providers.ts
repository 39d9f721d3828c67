import { EndRunHandler } from './end-run/end-run.handler.js';
import { EndSubagentHandler } from './end-subagent/end-subagent.handler.js';
import { GiveFeedbackHandler } from './give-feedback/give-feedback.handler.js';
import { OpenRunHandler } from './open-run/open-run.handler.js';
import { RecordInRunHandler } from './record-in-run/record-in-run.handler.js';

/** What records why a run does something, and what came of it. */
export const RUN_CHAIN = [OpenRunHandler, RecordInRunHandler, EndSubagentHandler, EndRunHandler, GiveFeedbackHandler];
