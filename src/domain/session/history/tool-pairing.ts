import type { AssistantToolCall, HistoryMessage } from '../session-state.js';

/**
 * Whether every call of a whole assistant message has its one answer behind it, and every tool message answers a call that
 * is open there. With `awaiting` (the session is in a durable wait) the last assistant message may have open calls, as long
 * as only answers and notices follow it; no other call may be open, and an orphaned answer is never allowed.
 */
export function toolCallsPaired(messages: readonly HistoryMessage[], awaiting: boolean): boolean {
  const walk = walkPairs(messages);
  if (walk.orphans.length > 0) return false;
  if (walk.open.size === 0) return true;
  if (!awaiting || walk.lastAssistant === null) return false;
  const trailing = walk.lastAssistant;
  const isTrailing = [...walk.open.values()].every((index) => index === trailing);
  return isTrailing && messages.slice(trailing + 1).every(({ role }) => role === 'tool' || role === 'notice');
}

/** Calls without an answer, with the index of the message that makes each, in order. */
export function openToolCalls(messages: readonly HistoryMessage[]): ReadonlyMap<string, number> {
  return walkPairs(messages).open;
}

/** The calls a message makes; a message that was cut off makes none. */
export function callsOf({ role, toolCalls, incomplete }: HistoryMessage): readonly AssistantToolCall[] {
  return role === 'assistant' && incomplete !== true ? (toolCalls ?? []) : [];
}

export interface PairWalk {
  /** Call id → index of the assistant message. */
  readonly open: Map<string, number>;
  /** Indices of messages that break the pairs whatever follows: answers to no open call, and calls that are open twice. */
  readonly orphans: readonly number[];
  readonly lastAssistant: number | null;
}

export function walkPairs(messages: readonly HistoryMessage[]): PairWalk {
  const open = new Map<string, number>();
  const orphans: number[] = [];
  let lastAssistant: number | null = null;
  for (const [index, message] of messages.entries()) {
    if (message.role === 'assistant' && message.incomplete !== true) lastAssistant = index;
    for (const { callId } of callsOf(message)) {
      if (open.has(callId)) orphans.push(index);
      open.set(callId, index);
    }
    if (message.role === 'tool' && (message.callId === undefined || !open.delete(message.callId))) {
      orphans.push(index);
    }
  }
  return { open, orphans, lastAssistant };
}
