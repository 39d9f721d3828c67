import { canonicalJson } from '../json/canonical-json.js';
import type { JsonObject, JsonValue } from '../json/json-value.js';
import type { MessageDisposition } from './session-catalogue.js';
import type { CallEnd } from './session-core.js';
import type { MirroredEvent } from './session-row.js';

/** For calls of the model that nobody ever proposed: they did nothing, and no record of the store could say so. */
export const NEVER_PROPOSED = 'The call was not executed: the turn was interrupted before it was proposed.';

/** What an event says of the end of a call and what the conversation is told of it, or null where it is no end. */
export function callEndOf(fact: MirroredEvent): CallEnd | null {
  const said = sayingOf(fact.envelope.eventType, fact.payload);
  return said === null ? null : { eventId: fact.eventId, seq: fact.seq, ...said };
}

interface Saying {
  readonly disposition: MessageDisposition;
  readonly text: string;
}

function sayingOf(type: string, payload: JsonObject | null): Saying | null {
  const word = (name: string): string => wordOf(payload?.[name]);
  switch (type) {
    case 'tool.call.completed':
      return { disposition: 'completed', text: resultText(payload) };
    case 'tool.call.failed':
      return {
        disposition: 'failed',
        text: `The call failed: ${word('code')}. Effect: ${word('effect')}.${messageText(payload?.['message'])}`,
      };
    case 'tool.call.denied':
      return { disposition: 'denied', text: `The call was denied (${word('basis')}) and did nothing.` };
    case 'tool.call.not_executed':
      return { disposition: 'not_executed', text: `The call was not executed: ${word('reason')}.` };
    case 'tool.call.manual_handoff':
      return {
        disposition: 'handed_off',
        text: 'Whether the call took effect is not known. People are finding out; do not repeat it.',
      };
    case 'manual.handoff_resolved':
      return { disposition: 'handed_off', text: `People have looked into the call: ${word('finding')}.` };
    default:
      return null;
  }
}

function resultText(payload: JsonObject | null): string {
  if (payload === null) return 'The call was completed; its result has been erased.';
  const result: JsonValue = payload['result'] ?? null;
  const text = typeof result === 'string' ? result : canonicalJson(result);
  return payload['resultTruncated'] === true ? `${text}\n(The result was longer and has been cut.)` : text;
}

const wordOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : 'unknown');
const messageText = (value: JsonValue | undefined): string =>
  typeof value === 'string' && value !== '' ? ` ${value}` : '';
