import type { JsonObject } from '../json/json-value.js';
import { isJsonObject } from '../json/json-value.js';
import { openCalls, ownMessages, type AgentDraft } from './agent-draft.js';
import { deepFreeze } from './deep-freeze.js';
import { listIn, textIn, textsIn, type ReadFact } from './fact-reading.js';
import { insertAnswer, syntheticAnswer } from './history/synthetic-answer.js';
import { callsOf, openToolCalls } from './history/tool-pairing.js';
import { assistantToolCalls, messageParts } from './message-parts.js';
import { MESSAGE_DISPOSITIONS, type MessageDisposition } from './session-catalogue.js';
import type { HistoryMessage } from './session-state.js';

export function addMessage(draft: AgentDraft, message: HistoryMessage): void {
  ownMessages(draft).push(deepFreeze(message));
}

export function addAssistantMessage(draft: AgentDraft, messageId: string, { payload, occurredAt }: ReadFact): void {
  const toolCalls = assistantToolCalls(listIn(payload, 'toolCalls'));
  const message: HistoryMessage = {
    messageId,
    role: 'assistant',
    contents: messageParts(listIn(payload, 'contents')),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    ...(payload['incomplete'] === true ? { incomplete: true as const } : {}),
    createdAt: occurredAt,
  };
  const open = openCalls(draft);
  addMessage(draft, message);
  for (const { callId } of callsOf(message)) open.set(callId, message);
}

/**
 * The answer to a call goes directly behind its question, even where a person has written something meanwhile: no model has been
 * shown the open call, so nothing that was shown is rewritten. A call has one answer. A later one, or one to a call that the
 * history does not have, is a notice.
 */
export function addToolMessage(
  draft: AgentDraft,
  messageId: string,
  { payload, refs, occurredAt, type }: ReadFact,
): void {
  const callId = textIn(payload, 'callId') ?? '';
  const { toolCallId } = refs;
  const contents = messageParts(listIn(payload, 'contents'));
  const about = toolCallId === undefined ? {} : { toolCallId };
  const open = openCalls(draft);
  const asking = open.get(callId);
  if (asking === undefined) {
    addMessage(draft, { messageId, role: 'notice', contents, ...about, about: callId, createdAt: occurredAt });
    return;
  }
  const disposition = type === 'tool.reported' ? 'reported' : dispositionOf(textIn(payload, 'disposition'));
  const answer: HistoryMessage = {
    messageId,
    role: 'tool',
    contents,
    callId,
    ...about,
    disposition,
    createdAt: occurredAt,
  };
  const messages = ownMessages(draft);
  insertAnswer(messages, messages.lastIndexOf(asking), deepFreeze(answer));
  open.delete(callId);
}

/** Copies what an episode is about, as it is now. The same episode recorded again replaces the earlier one. */
export function recordEpisode(draft: AgentDraft, payload: JsonObject): void {
  const episodeId = textIn(payload, 'episodeId') ?? '';
  const named = new Set(textsIn(payload, 'messageIds'));
  const messages = draft.messages.filter(({ messageId }) => named.has(messageId));
  draft.episodes = [...draft.episodes.filter((episode) => episode.episodeId !== episodeId), { episodeId, messages }];
}

/**
 * Takes the named messages out and gives every call that is open after that its synthetic answer: `answers` of the payload
 * (`[{callId, disposition}]`) says which, and where it says nothing, that the result is not known.
 */
export function truncateHistory(draft: AgentDraft, payload: JsonObject): void {
  const dropped = new Set(textsIn(payload, 'droppedMessageIds'));
  const kept = draft.messages.filter(({ messageId }) => !dropped.has(messageId));
  const told = new Map(
    listIn(payload, 'answers')
      .filter(isJsonObject)
      .map((answer) => [textIn(answer, 'callId') ?? '', dispositionOf(textIn(answer, 'disposition'))] as const),
  );
  const open = [...openToolCalls(kept)].map(([callId, at]) => [callId, kept[at] as HistoryMessage] as const);
  for (const [callId, asking] of open) {
    const answer = syntheticAnswer(asking, callId, told.get(callId) ?? 'result_unknown');
    insertAnswer(kept, kept.lastIndexOf(asking), deepFreeze(answer));
  }
  draft.messages = kept;
  draft.owned.add('messages');
  draft.open = null;
}

function dispositionOf(word: string | undefined): MessageDisposition {
  return MESSAGE_DISPOSITIONS.find((disposition) => disposition === word) ?? 'result_unknown';
}
