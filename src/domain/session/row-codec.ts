import { hash } from 'node:crypto';
import { canonicalJson } from '../json/canonical-json.js';
import type { JsonObject } from '../json/json-value.js';
import type { EventEnvelope } from '../events/envelope.js';
import type { MirrorRow, SessionEvent, SessionRow } from './session-row.js';

/**
 * The text of one row, the same on every medium: one JSON object without line breaks. Events carry the SHA-256 of their canonical
 * payload beside it, so that a deep inspection can check what a checksum of bytes cannot vouch for.
 */
export function encodeRow(row: SessionRow): string {
  return row.kind === 'mirror' ? encodeMirror(row) : encodeEvent(row, originText(row));
}

/** `encodeRow` for many rows one after the other: what a row says of where it comes from is mostly what the one before has said. */
export function rowEncoder(): (row: SessionRow) => string {
  let before: SessionEvent | null = null;
  let origin = '';
  return (row) => {
    if (row.kind === 'mirror') return encodeMirror(row);
    if (before === null || !hasSameOrigin(before, row)) origin = originText(row);
    before = row;
    return encodeEvent(row, origin);
  };
}

export type DecodedRow =
  | { readonly ok: true; readonly row: SessionRow; readonly payloadDigest: string }
  | { readonly ok: false; readonly problem: 'malformed' | 'unknown_kind' };

const EVENT_TEXTS = ['eventId', 'eventType', 'producer', 'correlationId', 'causeKind', 'occurredAt', 'recordedAt'];
const EVENT_REFS = ['runId', 'turnId', 'stepId', 'toolCallId', 'reasoningObjectId', 'skillId'] as const;
const EVENT_EXTRAS = [...EVENT_REFS, 'synthetic', 'ignorable', 'groupId', 'groupIndex', 'groupSize'] as const;

/** Reads what `encodeRow` wrote: the form only, not whether the type is known or its payload fits. Never throws. */
export function decodeRow(text: string): DecodedRow {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return MALFORMED;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return MALFORMED;
  const record = value as Record<string, unknown>;
  if (record['k'] === 'e') return eventFrom(record);
  if (record['k'] === 'm') return mirrorFrom(record);
  return { ok: false, problem: typeof record['k'] === 'string' ? 'unknown_kind' : 'malformed' };
}

/** SHA-256 of the canonical payload, hex. */
export function payloadDigest(payload: JsonObject): string {
  return hash('sha256', canonicalJson(payload), 'hex');
}

const MALFORMED: DecodedRow = { ok: false, problem: 'malformed' };

function encodeEvent(event: SessionEvent, origin: string): string {
  const payload = canonicalJson(event.payload);
  const digest = hash('sha256', payload, 'hex');
  let text = `{"k":"e","seq":${event.seq},"eventId":"${event.eventId}"${origin}`;
  text += `,"causationId":${quotedOrNull(event.causationId)},"causeKind":"${event.causeKind}"`;
  text += `,"occurredAt":"${event.occurredAt}","recordedAt":"${event.recordedAt}"`;
  if (event.synthetic === true) text += ',"synthetic":true';
  if (event.ignorable === true) text += ',"ignorable":true';
  if (event.groupId !== undefined) {
    text += `,"groupId":${quoted(event.groupId)},"groupIndex":${event.groupIndex},"groupSize":${event.groupSize}`;
  }
  return `${text},"payload":${payload},"payloadDigest":"${digest}"}`;
}

function originText(event: SessionEvent): string {
  let text = `,"eventType":${quoted(event.eventType)},"schemaVersion":${event.schemaVersion},"producer":"${event.producer}"`;
  for (const ref of EVENT_REFS) if (event[ref] !== undefined) text += `,"${ref}":${quoted(event[ref])}`;
  return `${text},"correlationId":${quoted(event.correlationId)}`;
}

function hasSameOrigin(one: SessionEvent, other: SessionEvent): boolean {
  return (
    one.eventType === other.eventType &&
    one.schemaVersion === other.schemaVersion &&
    one.producer === other.producer &&
    one.correlationId === other.correlationId &&
    EVENT_REFS.every((ref) => one[ref] === other[ref])
  );
}

function encodeMirror(row: MirrorRow): string {
  const envelope = canonicalJson(row.envelope as unknown as JsonObject);
  return `{"k":"m","seq":${row.seq},"eventId":${quoted(row.eventId)},"position":${row.position},"envelope":${envelope},"payloadCommitment":${quoted(row.payloadCommitment)}}`;
}

const quoted = (text: string): string => JSON.stringify(text);
const quotedOrNull = (text: string | null): string => (text === null ? 'null' : quoted(text));

const isIndex = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function eventFrom(record: Record<string, unknown>): DecodedRow {
  const digest = record['payloadDigest'];
  const isWhole =
    isIndex(record['seq']) &&
    isIndex(record['schemaVersion']) &&
    isObject(record['payload']) &&
    typeof digest === 'string' &&
    EVENT_TEXTS.every((name) => typeof record[name] === 'string') &&
    EVENT_REFS.every((name) => record[name] === undefined || typeof record[name] === 'string') &&
    (record['causationId'] === null || typeof record['causationId'] === 'string') &&
    isFlag(record['synthetic']) &&
    isFlag(record['ignorable']) &&
    isGroup(record);
  if (!isWhole) return MALFORMED;
  return { ok: true, row: eventOf(record), payloadDigest: digest };
}

/** Field by field, so that all events that are read have one form: this is done for every row of a log. */
function eventOf(record: Record<string, unknown>): SessionEvent {
  const event: Record<string, unknown> = {
    kind: 'event',
    seq: record['seq'],
    eventId: record['eventId'],
    eventType: record['eventType'],
    schemaVersion: record['schemaVersion'],
    producer: record['producer'],
    correlationId: record['correlationId'],
    causationId: record['causationId'],
    causeKind: record['causeKind'],
    occurredAt: record['occurredAt'],
    recordedAt: record['recordedAt'],
    payload: record['payload'],
  };
  for (const name of EVENT_EXTRAS) if (record[name] !== undefined) event[name] = record[name];
  return event as unknown as SessionEvent;
}

const isFlag = (value: unknown): boolean => value === undefined || value === true;

function isGroup({ groupId, groupIndex, groupSize }: Record<string, unknown>): boolean {
  if (groupId === undefined) return groupIndex === undefined && groupSize === undefined;
  return typeof groupId === 'string' && isIndex(groupIndex) && isIndex(groupSize) && groupIndex < groupSize;
}

function mirrorFrom(record: Record<string, unknown>): DecodedRow {
  const { seq, eventId, position, envelope, payloadCommitment } = record;
  const isWhole =
    isIndex(seq) &&
    isIndex(position) &&
    typeof eventId === 'string' &&
    typeof payloadCommitment === 'string' &&
    isObject(envelope) &&
    envelope['eventId'] === eventId;
  if (!isWhole) return MALFORMED;
  const row: MirrorRow = {
    kind: 'mirror',
    seq,
    eventId,
    position,
    envelope: envelope as unknown as EventEnvelope,
    payloadCommitment,
  };
  return { ok: true, row, payloadDigest: payloadCommitment };
}
