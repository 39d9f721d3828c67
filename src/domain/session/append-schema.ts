import { refuse, type Refusal } from '../errors/error-codes.js';
import type { FieldKind } from '../events/payload-shape.js';
import { SESSION_CATALOGUE, sessionPayloadProblem, type SessionEventType } from './session-catalogue.js';

/** Why a payload does not fit its type, or null. Names the field and never its value. */
export function schemaProblem(type: SessionEventType, payload: unknown): Refusal | null {
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) {
    return refuse('event_schema_invalid', `the payload of ${type} is not an object`);
  }
  const fields = payload as Readonly<Record<string, unknown>>;
  if (!isPlainFit(type, fields)) {
    const problem = sessionPayloadProblem(type, fields);
    if (problem !== null) return refuse('event_schema_invalid', `the payload of ${type}: ${problem}`);
  }
  if (fields['messageId'] === '') return refuse('event_schema_invalid', `the payload of ${type}: messageId is empty`);
  if (fields['contents'] === undefined) return null;
  return messageProblem(type, fields);
}

/** The fields of a type as the loop below wants them, made once. */
const FIELDS = new Map<SessionEventType, readonly (readonly [string, FieldKind])[]>(
  Object.entries(SESSION_CATALOGUE).map(([type, { shape }]) => [type as SessionEventType, Object.entries(shape)]),
);

/** A quick yes for payloads of texts and whole numbers; anything else is for the full check to say. */
function isPlainFit(type: SessionEventType, fields: Readonly<Record<string, unknown>>): boolean {
  const known = FIELDS.get(type) ?? [];
  let present = 0;
  for (const [name, kind] of known) {
    const value = fields[name];
    if (kind === 'text' ? typeof value !== 'string' : kind !== 'integer' || !Number.isSafeInteger(value)) return false;
    present += 1;
  }
  return Object.keys(fields).length === present;
}

/** Messages say something, in parts that name their type; only a whole message of an assistant may be calls alone. */
function messageProblem(type: SessionEventType, fields: Readonly<Record<string, unknown>>): Refusal | null {
  const contents = fields['contents'] as readonly unknown[];
  if (!contents.every(isPart)) {
    return refuse('event_schema_invalid', `the payload of ${type}: contents are objects with a type`);
  }
  const calls = fields['toolCalls'] as readonly unknown[] | undefined;
  if (calls !== undefined && !calls.every(isCall)) {
    return refuse('event_schema_invalid', `the payload of ${type}: toolCalls are {callId, name, arguments}`);
  }
  if (contents.length > 0 || (calls !== undefined && calls.length > 0 && fields['incomplete'] !== true)) return null;
  return refuse('message_empty_contents', `${type} has no contents`);
}

function isPart(part: unknown): boolean {
  return typeof part === 'object' && part !== null && typeof (part as { type?: unknown }).type === 'string';
}

function isCall(call: unknown): boolean {
  if (typeof call !== 'object' || call === null) return false;
  const { callId, name, arguments: args } = call as Readonly<Record<string, unknown>>;
  return typeof callId === 'string' && callId !== '' && typeof name === 'string' && args !== undefined;
}
