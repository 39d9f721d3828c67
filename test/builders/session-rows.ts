import { SESSION_FORMAT_VERSION } from '../../src/domain/session/session-catalogue.js';
import type { SessionKey } from '../../src/domain/session/session-key.js';
import type { MirrorRow, SessionEvent, SessionHeader, SessionRow } from '../../src/domain/session/session-row.js';

export const sessionKey = (sessionId: string, tenant = 'acme'): SessionKey => ({ tenant, sessionId });

export function sessionHeader(key: SessionKey, more: Partial<SessionHeader> = {}): SessionHeader {
  const { tenant, sessionId } = key;
  return { formatVersion: SESSION_FORMAT_VERSION, tenant, sessionId, createdAt: '2026-01-02T03:04:05.000Z', ...more };
}

/** Counted: the same `seq` of the same session is the same event. */
export function eventIdOf(seq: number, salt = 0): string {
  return `0190a1b2-c3d4-7000-8${String(salt).padStart(3, '0')}-${String(seq).padStart(12, '0')}`;
}

export function noticeRow(seq: number, more: Partial<SessionEvent> = {}): SessionEvent {
  return {
    kind: 'event',
    seq,
    eventId: eventIdOf(seq),
    eventType: 'notice.message',
    schemaVersion: 1,
    producer: 'session-runtime',
    correlationId: 'run-1',
    causationId: null,
    causeKind: 'external',
    occurredAt: timeOf(seq),
    recordedAt: timeOf(seq),
    payload: { messageId: `m-${seq}`, text: `row ${seq}`, about: 'test' },
    ...more,
  };
}

export function deltaRow(seq: number, more: Partial<SessionEvent> = {}): SessionEvent {
  return noticeRow(seq, {
    eventType: 'assistant.delta',
    producer: 'harness',
    runId: 'run-1',
    turnId: 'turn-1',
    stepId: 'step-1',
    payload: { messageId: 'm-1', index: seq, text: `word ${seq} ` },
    ...more,
  });
}

export function mirrorRow(seq: number, position: number): MirrorRow {
  const eventId = eventIdOf(seq);
  return {
    kind: 'mirror',
    seq,
    eventId,
    position,
    envelope: {
      eventId,
      eventType: 'run.started',
      schemaVersion: 1,
      tenant: 'acme',
      streamKind: 'run',
      streamId: 'run-1',
      version: position + 1,
      unitId: 'unit-1',
      unitIndex: 0,
      unitSize: 1,
      runId: 'run-1',
      producer: 'session-runtime',
      actor: { sub: 'ada' },
      correlationId: 'run-1',
      causationId: null,
      causeKind: 'external',
      occurredAt: timeOf(seq),
      recordedAt: timeOf(seq),
      versionSetId: 'test-1',
    } as MirrorRow['envelope'],
    payloadCommitment: 'ab'.repeat(32),
  };
}

/** `size` notices that appear together. */
export function groupRows(seq: number, size: number): SessionEvent[] {
  return Array.from({ length: size }, (_, groupIndex) =>
    noticeRow(seq + groupIndex, { groupId: `group-${seq}`, groupIndex, groupSize: size }),
  );
}

/** Everything a log may hold: notices, deltas that pack, a group of three, mirrors. */
export function mixedRows(from: number, count: number): SessionRow[] {
  const rows: SessionRow[] = [];
  while (rows.length < count) {
    const seq = from + rows.length;
    const left = count - rows.length;
    if (seq % 10 === 3 && left >= 3) rows.push(...groupRows(seq, 3));
    else if (seq % 10 >= 6) rows.push(deltaRow(seq));
    else rows.push(seq % 10 === 2 ? mirrorRow(seq, seq) : noticeRow(seq));
  }
  return rows;
}

function timeOf(seq: number): string {
  return new Date(Date.UTC(2026, 0, 2) + seq * 7).toISOString();
}
