import { describe, expect, it } from '@jest/globals';
import type { EventRefs, NewEvent } from '../../domain/events/envelope.js';
import { envelopeOf } from './envelope.js';
import type { EventPlace } from './envelope.js';
import { REF_COLUMNS } from './event.row.js';

const EVENT: NewEvent = {
  eventId: 'evt',
  type: 'policy.decided',
  refs: {},
  producer: 'policy-runtime',
  actor: { sub: 'alice' },
  correlationId: 'corr',
  causationId: null,
  causeKind: 'external',
  occurredAt: '2031-01-01T00:00:00.000Z',
  payload: {},
};
const PLACE: EventPlace = {
  unit: { unitId: 'unt', tenant: 'acme' },
  unitIndex: 1,
  unitSize: 3,
  stream: { kind: 'call', id: 'call' },
  version: 2,
  schemaVersion: 1,
  recordedAt: '2031-01-01T00:00:01.000Z',
  versionSetId: 'v1',
};
const ALL_REFS = Object.fromEntries(Object.keys(REF_COLUMNS).map((name) => [name, `the ${name}`])) as EventRefs;

describe('the envelope of an event at its place', () => {
  it('holds every reference of the event', () => {
    expect(envelopeOf({ ...EVENT, refs: ALL_REFS }, PLACE)).toMatchObject(ALL_REFS);
  });

  it('has no member for what the event is not about, be it absent or undefined', () => {
    const refs = { runId: undefined } as unknown as EventRefs;
    expect(Object.keys(envelopeOf({ ...EVENT, refs }, PLACE))).not.toContain('runId');
  });

  it('has its members in the order of canonical JSON', () => {
    const names = Object.keys(envelopeOf({ ...EVENT, refs: ALL_REFS, synthetic: true }, PLACE));
    expect(names).toEqual([...names].sort());
    expect(names).toHaveLength(33);
  });

  it('takes place and time from the writer, and the rest from the event', () => {
    expect(envelopeOf(EVENT, PLACE)).toEqual({
      eventId: 'evt',
      eventType: 'policy.decided',
      schemaVersion: 1,
      tenant: 'acme',
      streamKind: 'call',
      streamId: 'call',
      version: 2,
      unitId: 'unt',
      unitIndex: 1,
      unitSize: 3,
      producer: 'policy-runtime',
      actor: { sub: 'alice' },
      correlationId: 'corr',
      causationId: null,
      causeKind: 'external',
      occurredAt: '2031-01-01T00:00:00.000Z',
      recordedAt: '2031-01-01T00:00:01.000Z',
      versionSetId: 'v1',
    });
  });
});
