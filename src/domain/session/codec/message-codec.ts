import type { JsonValue } from '../../json/json-value.js';
import { stripMedia } from '../history/strip-media.js';
import { pointerFrom } from '../../json/json-pointer.js';
import type { MessageDisposition } from '../session-catalogue.js';
import type { AssistantToolCall, HistoryMessage, MessagePart } from '../session-state.js';
import { refuseField } from './codec-result.js';
import type { FieldReader } from './field-reader.js';

/**
 * One message, without media. Contents may be empty only beside tool calls, and nothing is put in their place. Words that are
 * not known (a role, a disposition of a newer version) are kept as they are.
 */
export function readMessage(fields: FieldReader): HistoryMessage {
  const contents = fields.items('contents', (part) => {
    part.text('type');
    return part.whole() as MessagePart;
  });
  const toolCalls = fields.has('toolCalls') ? fields.items('toolCalls', readToolCall) : [];
  if (contents.length === 0 && toolCalls.length === 0) {
    const path = pointerFrom(fields.path);
    refuseField({ code: 'message_empty_contents', message: `${path} has neither contents nor tool calls.`, path });
  }
  return stripMedia({
    messageId: fields.text('messageId'),
    role: fields.text('role'),
    contents,
    ...(fields.has('toolCalls') ? { toolCalls } : {}),
    ...fields.optionalText('callId'),
    ...fields.optionalText('toolCallId'),
    ...(fields.optionalText('disposition') as { readonly disposition?: MessageDisposition }),
    ...(fields.flag('incomplete', false) ? { incomplete: true as const } : {}),
    ...fields.optionalText('about'),
    createdAt: fields.text('createdAt'),
  });
}

function readToolCall(fields: FieldReader): AssistantToolCall {
  const args: JsonValue = fields.json('arguments');
  return { callId: fields.text('callId'), name: fields.text('name'), arguments: args };
}
