import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { EventEnvelope, EventRefs } from '../../domain/events/envelope.js';
import { EVENT_COLUMNS, REF_COLUMNS, envelopeFromRow, eventValues } from './event.row.js';
import type { EventRow, EvidenceRow } from './event.row.js';

const EVIDENCE: EvidenceRow = {
  salt: Uint8Array.of(1),
  payload_commitment: Uint8Array.of(2),
  payload_sealed: Uint8Array.of(3),
  data_key_id: 'key',
  leaf_hash: Uint8Array.of(4),
};

const refs = fc.record(
  Object.fromEntries(Object.keys(REF_COLUMNS).map((name) => [name, fc.string()])) as Record<
    keyof EventRefs,
    fc.Arbitrary<string>
  >,
  { requiredKeys: [] },
);

const envelopes = fc
  .record({
    eventId: fc.string(),
    eventType: fc.constant('policy.decided' as const),
    schemaVersion: fc.nat(),
    tenant: fc.string(),
    streamKind: fc.constant('call' as const),
    streamId: fc.string(),
    version: fc.nat(),
    unitId: fc.string(),
    unitIndex: fc.nat(),
    unitSize: fc.nat(),
    producer: fc.constant('policy-runtime' as const),
    actor: fc.oneof(
      fc.record({ sub: fc.string() }),
      fc.record({ sub: fc.string(), act: fc.record({ sub: fc.string() }) }),
    ),
    correlationId: fc.string(),
    causationId: fc.option(fc.string()),
    causeKind: fc.constantFrom('event' as const, 'external' as const, 'timer' as const),
    occurredAt: fc.string(),
    recordedAt: fc.string(),
    versionSetId: fc.string(),
    refs,
    synthetic: fc.boolean(),
  })
  .map(({ refs: present, synthetic, ...rest }): EventEnvelope => {
    const marked = synthetic ? { synthetic: true as const } : {};
    return { ...rest, ...present, ...marked };
  });

const rowOf = (envelope: EventEnvelope): EventRow => {
  const values = eventValues(envelope, JSON.stringify(envelope.actor), EVIDENCE);
  return Object.fromEntries(EVENT_COLUMNS.map((column, index) => [column, values[index]])) as unknown as EventRow;
};

describe('the row of an event', () => {
  it('gives the envelope back, member by member', () => {
    fc.assert(fc.property(envelopes, (envelope) => expect(envelopeFromRow(rowOf(envelope))).toEqual(envelope)));
  });

  it('has a value for every column, and puts the evidence where it belongs', () => {
    fc.assert(
      fc.property(envelopes, (envelope) => {
        expect(eventValues(envelope, '{}', EVIDENCE)).toHaveLength(EVENT_COLUMNS.length);
        expect(rowOf(envelope)).toMatchObject(EVIDENCE);
      }),
    );
  });

  it('leaves out a reference that the event does not have', () => {
    const [envelope] = fc.sample(envelopes, { seed: 7, numRuns: 1 });
    const { turnId: _, ...without } = { ...(envelope as EventEnvelope), turnId: 'turn' };
    expect(Object.keys(envelopeFromRow(rowOf(without)))).not.toContain('turnId');
  });
});
