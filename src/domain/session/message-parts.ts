import type { JsonValue } from '../json/json-value.js';
import { isJsonObject } from '../json/json-value.js';
import { stripPart, stripValue } from './history/strip-media.js';
import type { AssistantToolCall, MessagePart } from './session-state.js';

/**
 * The parts of a message as history holds them: objects with a type, without media. A bare text becomes a text part, another
 * value a `json` part; nothing is invented and nothing is left out.
 */
export function messageParts(contents: readonly JsonValue[]): readonly MessagePart[] {
  return contents.map((part) => stripPart(typedPart(part)));
}

function typedPart(part: JsonValue): MessagePart {
  if (typeof part === 'string') return { type: 'text', text: part };
  if (!isJsonObject(part)) return { type: 'json', value: part };
  return typeof part['type'] === 'string' ? (part as MessagePart) : { ...part, type: 'json' };
}

/** The calls of an assistant message: those with an id, each id once. */
export function assistantToolCalls(toolCalls: readonly JsonValue[]): readonly AssistantToolCall[] {
  const calls = new Map<string, AssistantToolCall>();
  for (const call of toolCalls) {
    if (!isJsonObject(call) || typeof call['callId'] !== 'string' || calls.has(call['callId'])) continue;
    calls.set(call['callId'], {
      callId: call['callId'],
      name: typeof call['name'] === 'string' ? call['name'] : '',
      arguments: stripValue(call['arguments'] ?? null),
    });
  }
  return [...calls.values()];
}
