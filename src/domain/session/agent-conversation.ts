import type { JsonObject, JsonValue } from '../json/json-value.js';
import { isJsonObject, jsonEquals } from '../json/json-value.js';
import { clearList, ownList, type AgentDraft } from './agent-draft.js';
import { addAssistantMessage, addMessage, addToolMessage, recordEpisode, truncateHistory } from './agent-messages.js';
import { deepFreeze } from './deep-freeze.js';
import { countIn, listIn, objectIn, textIn, type ReadFact } from './fact-reading.js';
import { lastErrorOf } from './last-error.js';
import { messageParts } from './message-parts.js';

type Apply = (draft: AgentDraft, fact: ReadFact) => void;

/** What the conversation says about itself. Decides nothing about what is governed. */
const CONVERSATION: Readonly<Record<string, Apply>> = {
  'session.created': (draft, { payload }) => {
    draft.state.metadata = objectIn(payload, 'metadata') ?? {};
  },
  'session.history_truncated': (draft, { payload }) => truncateHistory(draft, payload),
  'user.message': (draft, fact) => {
    const { payload, occurredAt } = fact;
    const contents = messageParts(listIn(payload, 'contents'));
    addMessage(draft, { messageId: messageIdOf(fact), role: 'user', contents, createdAt: occurredAt });
  },
  'assistant.message': (draft, fact) => addAssistantMessage(draft, messageIdOf(fact), fact),
  'tool.message': (draft, fact) => addToolMessage(draft, messageIdOf(fact), fact),
  'tool.reported': (draft, fact) => addToolMessage(draft, messageIdOf(fact), fact),
  'notice.message': (draft, fact) => {
    const { payload, occurredAt, refs } = fact;
    addMessage(draft, {
      messageId: messageIdOf(fact),
      role: 'notice',
      contents: [{ type: 'text', text: textIn(payload, 'text') ?? '' }],
      ...(refs.toolCallId === undefined ? {} : { toolCallId: refs.toolCallId }),
      about: textIn(payload, 'about') ?? '',
      createdAt: occurredAt,
    });
  },
  'episodic.recorded': (draft, { payload }) => recordEpisode(draft, payload),
  'system.reminder_set': (draft, { payload }) => remind(draft, payload),
  'system.prompt_changed': (draft, { payload, occurredAt }) => {
    const item = { promptDigest: payload['promptDigest'] ?? null, version: payload['promptTemplateVersion'] ?? null };
    addWhenChanged(draft, 'systemPromptHistory', item, occurredAt);
  },
  'tools.changed': (draft, { payload, occurredAt }) => {
    const item = { toolsDigest: payload['toolsDigest'] ?? null, tools: payload['tools'] ?? [] };
    addWhenChanged(draft, 'toolsHistory', item, occurredAt);
  },
  'usage.recorded': (draft, { payload, occurredAt }) => {
    const usage = { model: payload['model'] ?? null, tokens: payload['tokens'] ?? {}, recordedAt: occurredAt };
    ownList(draft, 'usages').push(usage);
    ownList(draft, 'currentLoopUsages').push(usage);
  },
  /** A turn is a loop: its first call is the first one counted again. */
  'turn.started': (draft) => beginLoop(draft),
  'loop.advanced': (draft, { payload }) => {
    const current = countIn(payload, 'currentLoopCount') ?? draft.state.currentLoopCount;
    // Zero announces a loop that has made no call yet; one is told after the first call, whose usage may be here already.
    if (current === 0) beginLoop(draft);
    draft.state.currentLoopCount = current;
    draft.state.totalLoopCount = countIn(payload, 'totalLoopCount') ?? draft.state.totalLoopCount;
  },
  'metadata.updated': (draft, { payload }) => {
    draft.state.metadata = deepFreeze(merged(draft.state.metadata, objectIn(payload, 'patch') ?? {}));
  },
  'plan.updated': (draft, { payload }) => {
    const plan = payload['plan'] ?? null;
    // What was approved is that plan and no other.
    if (draft.state.plan === undefined || !jsonEquals(draft.state.plan, plan)) draft.state.planReviewApproved = false;
    draft.state.plan = plan;
  },
  'skills.activated': (draft, { payload }) => {
    draft.state.activeSkills = listIn(payload, 'skills');
  },
  'error.recorded': (draft, { payload }) => {
    draft.state.lastError = lastErrorOf(payload);
  },
};

export function applyConversation(draft: AgentDraft, fact: ReadFact): void {
  if (Object.hasOwn(CONVERSATION, fact.type)) CONVERSATION[fact.type]?.(draft, fact);
}

const messageIdOf = ({ payload, eventId }: ReadFact): string => textIn(payload, 'messageId') ?? eventId;

function beginLoop(draft: AgentDraft): void {
  draft.state.currentLoopCount = 0;
  clearList(draft, 'currentLoopUsages');
}

function remind(draft: AgentDraft, payload: JsonObject): void {
  const reminders = new Map(Object.entries(draft.state.systemReminders));
  const key = textIn(payload, 'key') ?? '';
  const value = textIn(payload, 'value');
  if (value === undefined) reminders.delete(key);
  else reminders.set(key, value);
  draft.state.systemReminders = Object.fromEntries(reminders);
}

function addWhenChanged(
  draft: AgentDraft,
  list: 'systemPromptHistory' | 'toolsHistory',
  item: JsonObject,
  since: string,
): void {
  const last = draft.state[list].at(-1);
  if (last !== undefined) {
    const { since: _, ...content } = last;
    if (jsonEquals(content, item)) return;
  }
  ownList(draft, list).push({ ...item, since });
}

/** RFC 7396: null takes a field away, objects are merged, everything else replaces. */
function merged(target: JsonValue | undefined, patch: JsonObject): JsonObject {
  const fields = new Map(Object.entries(isJsonObject(target) ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) fields.delete(name);
    else fields.set(name, isJsonObject(value) ? merged(fields.get(name), value) : value);
  }
  return Object.fromEntries(fields);
}
