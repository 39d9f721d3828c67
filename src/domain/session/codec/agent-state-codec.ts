import type { JsonObject, JsonValue } from '../../json/json-value.js';
import { deepFreeze } from '../deep-freeze.js';
import { AGENT_STATE_VERSION, type AgentState } from '../session-state.js';
import type { FieldReader } from './field-reader.js';
import { readMessage } from './message-codec.js';
import { readApprovalBatch, readPlanReview, readRunCheckpoint } from './pending-codec.js';
import { versionOf } from './schema-version.js';

/** The version that brought a field; a file of an earlier one has it at its default, whatever it says. */
const APPROVALS_SINCE = 2;
const PLAN_REVIEWS_SINCE = 3;

/** The version a stored state was written by. 0, the time before versions, has the present layout. */
export function layoutOf(fields: FieldReader): number {
  return versionOf(fields.raw('schemaVersion')) || AGENT_STATE_VERSION;
}

/**
 * The known fields of a state in the layout of a version, which the caller has checked. `sessionId` stands in for a state of
 * early times that does not name its session.
 */
export function readAgentState(fields: FieldReader, version: number, sessionId?: string): AgentState {
  const history = fields.reader('history');
  const hasApproval = version >= APPROVALS_SINCE && fields.has('pendingApproval');
  const hasReview = version >= PLAN_REVIEWS_SINCE && fields.has('pendingPlanReview');
  return {
    schemaVersion: AGENT_STATE_VERSION,
    sessionId: sessionId !== undefined && !fields.has('sessionId') ? sessionId : fields.text('sessionId'),
    history: {
      messages: history.items('messages', (message) => deepFreeze(readMessage(message))),
      episodicMemories: history.items(
        'episodicMemories',
        (episode) => ({
          episodeId: episode.text('episodeId'),
          messages: episode.items('messages', (message) => deepFreeze(readMessage(message))),
        }),
        [],
      ),
    },
    usages: objects(fields, 'usages'),
    metadata: fields.object('metadata', {}),
    ...(fields.has('plan') ? { plan: fields.json('plan') } : {}),
    ...(fields.has('activeSkills') ? { activeSkills: fields.list('activeSkills') as readonly JsonValue[] } : {}),
    isRunning: fields.flag('isRunning', false),
    totalLoopCount: fields.count('totalLoopCount', 0),
    currentLoopCount: fields.count('currentLoopCount', 0),
    currentLoopUsages: objects(fields, 'currentLoopUsages'),
    ...(fields.has('lastError') ? { lastError: readLastError(fields.reader('lastError')) } : {}),
    systemReminders: readReminders(fields),
    systemPromptHistory: objects(fields, 'systemPromptHistory'),
    toolsHistory: objects(fields, 'toolsHistory'),
    ...(fields.has('pendingRunCheckpoint')
      ? { pendingRunCheckpoint: readRunCheckpoint(fields.reader('pendingRunCheckpoint')) }
      : {}),
    ...(hasApproval ? { pendingApproval: readApprovalBatch(fields.reader('pendingApproval')) } : {}),
    ...(hasReview ? { pendingPlanReview: readPlanReview(fields.reader('pendingPlanReview')) } : {}),
    planReviewApproved: version >= PLAN_REVIEWS_SINCE && fields.flag('planReviewApproved', false),
  };
}

function objects(fields: FieldReader, name: string): JsonObject[] {
  return fields.items(name, (item) => item.whole(), []);
}

function readLastError(fields: FieldReader): AgentState['lastError'] & object {
  return {
    layer: fields.text('layer'),
    code: fields.text('code'),
    message: fields.text('message'),
    retryability: fields.text('retryability'),
  };
}

function readReminders(fields: FieldReader): Readonly<Record<string, string>> {
  const reminders = fields.object('systemReminders', {});
  const isTexts = Object.values(reminders).every((value) => typeof value === 'string' || value === undefined);
  return isTexts ? (reminders as Readonly<Record<string, string>>) : fields.refuse('systemReminders', 'a map of texts');
}
