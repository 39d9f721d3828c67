import type { JsonObject } from '../../../domain/json/json-value.js';
import type { SessionEvent, SessionRow } from '../../../domain/session/session-row.js';

/** Bounds of one packed row: what a damaged line may cost, and what one step of reading it takes. */
const PACKED_ROWS_MAX = 256;
const PACKED_UNITS_MAX = 32_768;

type Delta = SessionEvent & {
  readonly payload: { readonly messageId: string; readonly index: number; readonly text: string };
};

/** `[eventId, index, text]` with the times of the item before, or with `occurredAt, recordedAt` behind. */
type Item = readonly [string, number, string] | readonly [string, number, string, string, string];

const SHARED = [
  'eventType',
  'schemaVersion',
  'runId',
  'turnId',
  'stepId',
  'toolCallId',
  'reasoningObjectId',
  'skillId',
  'producer',
  'correlationId',
  'causationId',
  'causeKind',
  'synthetic',
  'ignorable',
] as const satisfies readonly (keyof SessionEvent)[];

/** How many rows from `at` on go into one packed row; 1: the row stands alone. */
export function packedLength(rows: readonly SessionRow[], at: number): number {
  const first = rows[at];
  if (first === undefined || !isDelta(first)) return 1;
  let units = first.payload.text.length;
  let end = at + 1;
  while (end < rows.length && end - at < PACKED_ROWS_MAX) {
    const next = rows[end];
    if (next === undefined || !isDelta(next) || !isAlike(first, next)) break;
    units += next.payload.text.length;
    if (units > PACKED_UNITS_MAX) break;
    end += 1;
  }
  return end - at;
}

/** `{k: "p", seq, shared, messageId, items}` as text. Only for rows that `packedLength` has counted. */
export function packedText(rows: readonly SessionRow[], at: number, length: number): string {
  const deltas = rows.slice(at, at + length) as Delta[];
  const [first] = deltas;
  if (first === undefined) throw new Error('nothing to pack');
  const shared = Object.fromEntries(SHARED.map((name) => [name, first[name]]));
  const { messageId } = first.payload;
  return JSON.stringify({ k: 'p', seq: first.seq, shared, messageId, items: deltas.map(itemOf) });
}

/** The events of a packed row, or null when it is not one. */
export function unpackedDeltas(text: string): readonly SessionEvent[] | null {
  const { seq, shared, messageId, items } = JSON.parse(text) as Record<string, unknown>;
  if (!Number.isSafeInteger(seq) || typeof messageId !== 'string' || !Array.isArray(items)) return null;
  if (typeof shared !== 'object' || shared === null || items.length === 0) return null;
  const events: SessionEvent[] = [];
  let times: readonly [string, string] | null = null;
  for (const [index, item] of (items as unknown[]).entries()) {
    if (!isItem(item)) return null;
    times = item.length === 5 ? [item[3], item[4]] : times;
    if (times === null) return null;
    const payload: JsonObject = { index: item[1], messageId, text: item[2] };
    const [occurredAt, recordedAt] = times;
    const own = { seq: (seq as number) + index, eventId: item[0], occurredAt, recordedAt, payload };
    events.push({ kind: 'event', ...(shared as Omit<SessionEvent, 'kind' | keyof typeof own>), ...own });
  }
  return events;
}

function isDelta(row: SessionRow): row is Delta {
  if (row.kind !== 'event' || row.eventType !== 'assistant.delta' || row.groupId !== undefined) return false;
  const { index, messageId, text } = row.payload;
  if (!Number.isSafeInteger(index) || typeof messageId !== 'string' || typeof text !== 'string') return false;
  return Object.keys(row.payload).length === 3;
}

function isAlike(first: Delta, next: Delta): boolean {
  return first.payload.messageId === next.payload.messageId && SHARED.every((name) => first[name] === next[name]);
}

function itemOf({ eventId, payload, occurredAt, recordedAt }: Delta, index: number, all: readonly Delta[]): Item {
  const before = all[index - 1];
  const { index: number, text } = payload;
  if (before?.occurredAt === occurredAt && before.recordedAt === recordedAt) return [eventId, number, text];
  return [eventId, number, text, occurredAt, recordedAt];
}

function isItem(item: unknown): item is Item {
  if (!Array.isArray(item) || (item.length !== 3 && item.length !== 5)) return false;
  return item.every((part, at) => (at === 1 ? Number.isSafeInteger(part) : typeof part === 'string'));
}
