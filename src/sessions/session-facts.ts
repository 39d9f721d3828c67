import { jsonEquals, type JsonObject, type JsonValue } from '../domain/json/json-value.js';
import type { SessionKey } from '../domain/session/session-key.js';
import type { MirroredEvent, MirrorRow, SessionFact, SessionRow } from '../domain/session/session-row.js';
import type { GovernedEvent, SessionRecord } from './session-record.js';

export type JoinedFacts =
  | {
      readonly ok: true;
      /** The rows of the log, governed ones with the payload that the store has. */
      readonly facts: readonly SessionFact[];
      /** Governed events that the log lacks, as its next rows. */
      readonly missing: readonly MirroredEvent[];
    }
  | { readonly ok: false; readonly seq: number; readonly problem: string };

/** Holds the log against the store, which is the authority: whoever edits a log changes nothing of what was decided. */
export async function joinedFacts(
  record: SessionRecord,
  key: SessionKey,
  rows: readonly SessionRow[],
): Promise<JoinedFacts> {
  const governed = new Map<string, GovernedEvent>();
  for await (const entry of record.governedEvents(key, -1)) governed.set(entry.event.envelope.eventId, entry);
  const facts: SessionFact[] = [];
  for (const row of rows) {
    if (row.kind === 'event') {
      facts.push(row);
      continue;
    }
    const entry = governed.get(row.eventId);
    if (entry === undefined) return { ok: false, seq: row.seq, problem: 'the store does not know a mirrored event' };
    if (!isMirrorOf(row, entry)) return { ok: false, seq: row.seq, problem: 'a mirrored event differs from the store' };
    facts.push({ ...row, payload: entry.event.payload });
    governed.delete(row.eventId);
  }
  const promised = promisedSeq(governed.values(), facts);
  if (promised > rows.length - 1) {
    return { ok: false, seq: rows.length, problem: `the store knows that the log was on disk up to ${promised}` };
  }
  return { ok: true, facts, missing: [...governed.values()].map((entry, at) => mirroredAt(rows.length + at, entry)) };
}

/** The furthest row that a governed event calls durable; -1: none does, or the session was deleted with its log. */
function promisedSeq(missing: Iterable<GovernedEvent>, facts: readonly SessionFact[]): number {
  let promised = -1;
  let isDeleted = false;
  const note = (type: string, payload: JsonObject | null): void => {
    isDeleted ||= type === 'session.deleted';
    const seq =
      type === 'checkpoint.created'
        ? payload?.['seq']
        : type === 'session.harness_attached'
          ? payload?.['durableSeq']
          : null;
    if (typeof seq === 'number') promised = Math.max(promised, seq);
  };
  for (const { event } of missing) note(event.envelope.eventType, event.payload);
  for (const fact of facts) if (fact.kind === 'mirror') note(fact.envelope.eventType, fact.payload);
  return isDeleted ? -1 : promised;
}

/** The row that repeats a governed event. */
export function mirroredAt(seq: number, { event, payloadCommitment }: GovernedEvent): MirroredEvent {
  const { position, envelope, payload } = event;
  return Object.freeze({
    kind: 'mirror',
    seq,
    eventId: envelope.eventId,
    position,
    envelope,
    payloadCommitment,
    payload,
  });
}

function isMirrorOf(row: MirrorRow, { event, payloadCommitment }: GovernedEvent): boolean {
  if (row.position !== event.position || row.payloadCommitment !== payloadCommitment) return false;
  return jsonEquals(withoutAbsent(row.envelope), withoutAbsent(event.envelope));
}

/** A field that is undefined is not there; text of JSON has no other way to say it. */
function withoutAbsent(envelope: object): JsonObject {
  return Object.fromEntries(
    Object.entries(envelope).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined),
  );
}
