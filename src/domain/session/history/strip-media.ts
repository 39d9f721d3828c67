import type { JsonObject, JsonValue } from '../../json/json-value.js';
import type { AssistantToolCall, HistoryMessage, MessagePart } from '../session-state.js';
import { hasLongRun, mediaPlaceholder, stripMediaText } from './media-text.js';

/** Deeper values are walked without having been looked at. */
const LOOKED_AT_DEPTH = 16;

const TYPE_NAMES = ['mediaType', 'media_type', 'mimeType', 'mime_type'];

/**
 * A message without binary media: each has become a text that tells its type and digest. What a part says about itself
 * ("already a placeholder") counts for nothing; its content is looked at. Gives the same message when there is none.
 */
export function stripMedia(message: HistoryMessage): HistoryMessage {
  const contents = message.contents.map(stripPart);
  const toolCalls = message.toolCalls?.map(stripCall);
  const isSame =
    contents.every((part, index) => part === message.contents[index]) &&
    (toolCalls === undefined || toolCalls.every((call, index) => call === message.toolCalls?.[index]));
  if (isSame) return message;
  return { ...message, contents, ...(toolCalls === undefined ? {} : { toolCalls }) };
}

/** The same for one part. A part that is nothing but media becomes a text part; a composite one keeps its form. */
export function stripPart(part: MessagePart): MessagePart {
  // Nearly all parts are words, and looking costs a tenth of walking.
  if (!mayHoldMedia(part)) return part;
  const found: string[] = [];
  const stripped = strip(part, part, { found, above: new Set() }) as MessagePart;
  if (found.length === 0) return part;
  const isComposite = part.type === 'text' || Object.values(part).some(Array.isArray);
  return isComposite ? stripped : { type: 'text', text: found.join(' ') };
}

/** The same for any value; its form is kept. */
export function stripValue(value: JsonValue): JsonValue {
  if (!mayHoldMedia(value)) return value;
  return strip(value, {}, { found: [], above: new Set() }) as JsonValue;
}

/** False only where no text is long enough to hold media, and nothing is bytes. A cycle or deep nesting counts as a maybe. */
function mayHoldMedia(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return hasLongRun(value);
  if (typeof value !== 'object' || value === null) return false;
  if (depth >= LOOKED_AT_DEPTH || ArrayBuffer.isView(value)) return true;
  for (const name in value) if (mayHoldMedia((value as Record<string, unknown>)[name], depth + 1)) return true;
  return false;
}

function stripCall(call: AssistantToolCall): AssistantToolCall {
  const stripped = stripValue(call.arguments);
  return stripped === call.arguments ? call : { ...call, arguments: stripped };
}

interface Walk {
  /** What replaced something; without a new entry the value is the same one. */
  readonly found: string[];
  /** Objects that the walk is inside of: a cycle is left to whoever refuses it. */
  readonly above: Set<object>;
}

function strip(value: unknown, holder: JsonObject, walk: Walk): unknown {
  if (typeof value === 'string') return noted(value, stripMediaText(value, declaredBy(holder)), walk);
  if (typeof value !== 'object' || value === null || walk.above.has(value)) return value;
  if (ArrayBuffer.isView(value)) {
    const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    return noted(value, mediaPlaceholder(bytes, declaredBy(holder)), walk);
  }
  const before = walk.found.length;
  walk.above.add(value);
  const copy = Array.isArray(value) ? stripItems(value, holder, walk) : stripFields(value as JsonObject, walk);
  walk.above.delete(value);
  return walk.found.length === before ? value : copy;
}

function stripItems(items: readonly unknown[], holder: JsonObject, walk: Walk): unknown[] {
  return items.map((item) => strip(item, holder, walk));
}

function stripFields(object: JsonObject, walk: Walk): JsonObject {
  const entries = Object.entries(object).map(([name, inner]) => [name, strip(inner, object, walk)] as const);
  return Object.fromEntries(entries) as JsonObject;
}

function noted(before: unknown, after: string, { found }: Walk): string {
  if (after !== before) found.push(after);
  return after;
}

function declaredBy(holder: JsonObject): string | undefined {
  const declared = TYPE_NAMES.map((name) => holder[name]).find((value) => typeof value === 'string');
  return typeof declared === 'string' ? declared : undefined;
}
