import type { HistoryMessage } from '../session-state.js';
import { insertAnswer, syntheticAnswer } from './synthetic-answer.js';
import { callsOf, walkPairs } from './tool-pairing.js';

export interface TruncatedHistory {
  readonly messages: readonly HistoryMessage[];
  /** Message ids, in order. */
  readonly dropped: readonly string[];
  /** Calls that got a synthetic answer because they, or one beside them, may have had an effect. */
  readonly answered: readonly { readonly callId: string; readonly disposition: 'result_unknown' | 'not_executed' }[];
}

/**
 * Drops messages from the end until every call has its answer. Works on a copy; the log is never shortened for it.
 *
 * A call that was sent is a fact about the world: it and its answer are never dropped. Where it has no answer it gets one that
 * says `result_unknown`; a call in front of it or in the same message that was not sent is told `not_executed`.
 */
export function truncateToPaired(
  messages: readonly HistoryMessage[],
  wasSent: (callId: string) => boolean,
): TruncatedHistory {
  const floor = endOfSent(messages, wasSent);
  const dropped: string[] = [];
  const { kept, answered } = mended(messages.slice(0, floor), wasSent, dropped);
  const rest = messages.slice(floor);
  const cut = longestPaired(rest);
  dropped.push(...rest.slice(cut).map(({ messageId }) => messageId));
  return { messages: [...kept, ...rest.slice(0, cut)], dropped, answered };
}

/** How many messages have to stay: up to the last that makes or answers a call which was sent, and all answers to what they ask. */
function endOfSent(messages: readonly HistoryMessage[], wasSent: (callId: string) => boolean): number {
  let end = 0;
  const asked = new Set<string>();
  const beyond = new Set<string>();
  for (const [index, message] of messages.entries()) {
    const calls = callsOf(message).map(({ callId }) => callId);
    const isAnswer = message.role === 'tool' && message.callId !== undefined;
    const isSent = calls.some(wasSent) || (isAnswer && wasSent(message.callId ?? ''));
    for (const callId of calls) beyond.add(callId);
    if (!isSent && !(isAnswer && asked.delete(message.callId ?? ''))) continue;
    end = index + 1;
    for (const callId of beyond) asked.add(callId);
    beyond.clear();
  }
  return end;
}

/** The part that has to stay, without orphaned answers and with an answer for every open call. */
function mended(
  messages: readonly HistoryMessage[],
  wasSent: (callId: string) => boolean,
  dropped: string[],
): { kept: HistoryMessage[]; answered: TruncatedHistory['answered'] } {
  const kept: HistoryMessage[] = [];
  const answered: TruncatedHistory['answered'][number][] = [];
  const open = new Map<string, HistoryMessage>();
  const answer = (callId: string): void => {
    const asking = open.get(callId);
    if (asking === undefined) return;
    const disposition = dispositionOf(callId, wasSent);
    insertAnswer(kept, kept.lastIndexOf(asking), syntheticAnswer(asking, callId, disposition));
    answered.push({ callId, disposition });
    open.delete(callId);
  };
  for (const message of messages) {
    if (message.role === 'tool' && (message.callId === undefined || !open.delete(message.callId))) {
      dropped.push(message.messageId);
      continue;
    }
    for (const { callId } of callsOf(message)) {
      answer(callId);
      open.set(callId, message);
    }
    kept.push(message);
  }
  for (const callId of open.keys()) answer(callId);
  return { kept, answered };
}

const dispositionOf = (callId: string, wasSent: (callId: string) => boolean): 'result_unknown' | 'not_executed' =>
  wasSent(callId) ? 'result_unknown' : 'not_executed';

/** How many messages from the front are paired at most. */
function longestPaired(messages: readonly HistoryMessage[]): number {
  const { orphans } = walkPairs(messages);
  const end = orphans[0] ?? messages.length;
  const open = new Set<string>();
  let longest = 0;
  for (const [index, message] of messages.slice(0, end).entries()) {
    for (const { callId } of callsOf(message)) open.add(callId);
    if (message.role === 'tool' && message.callId !== undefined) open.delete(message.callId);
    if (open.size === 0) longest = index + 1;
  }
  return longest;
}
