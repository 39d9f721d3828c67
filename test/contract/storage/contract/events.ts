import { describe, expect, it } from '@jest/globals';
import type { NewEvent } from '../../../../src/domain/events/envelope.js';
import type { Unit } from '../../../../src/storage/unit.js';
import { outcomeOf } from '../outcomes.js';
import type { StoreUnderTest } from '../store-contract.js';
import { CallScript, TENANT, event, newId, unit } from '../unit-builders.js';

const refused = (parts: Partial<NewEvent> = {}): NewEvent =>
  event('policy.activation_refused', { problems: [] }, parts);

const policyUnit = (id: string, expectedVersion: number, events: readonly NewEvent[]): Unit =>
  unit({ appends: [{ stream: { kind: 'policy', id }, expectedVersion, events }] });

export function describeEvents({ current }: StoreUnderTest): void {
  describe('events', () => {
    it('gives back envelope and payload of every event of a unit', async () => {
      const { store } = current();
      const call = new CallScript();
      const whole = call.proposeAndDispatch();
      const { recordedAt } = await store.commit(whole);
      const stored = await store.read.streamEvents(TENANT, { kind: 'call', id: call.toolCallId });
      expect(stored.map(({ payload }) => payload)).toEqual(whole.appends[0]?.events.map(({ payload }) => payload));
      expect(stored.map(({ position, envelope }) => [position, envelope.version, envelope.unitIndex])).toEqual([
        [0, 1, 0],
        [1, 2, 1],
        [2, 3, 2],
        [3, 4, 3],
      ]);
      const [proposed, decided] = whole.appends[0]?.events ?? [];
      expect(stored[1]?.envelope).toEqual({
        eventId: decided?.eventId,
        eventType: 'policy.decided',
        schemaVersion: expect.any(Number),
        tenant: TENANT,
        streamKind: 'call',
        streamId: call.toolCallId,
        version: 2,
        unitId: whole.unitId,
        unitIndex: 1,
        unitSize: 4,
        runId: call.runId,
        sessionId: call.runId,
        toolCallId: call.toolCallId,
        producer: 'policy-runtime',
        actor: { sub: 'alice', act: { sub: 'refund-agent' } },
        correlationId: call.toolCallId,
        causationId: proposed?.eventId,
        causeKind: 'event',
        occurredAt: '2031-01-01T00:00:00.000Z',
        recordedAt,
        versionSetId: 'test-1',
      });
    });

    it('keeps the mark of a synthetic event', async () => {
      const { store } = current();
      const { eventId, ...rest } = refused({ synthetic: true });
      await store.commit(policyUnit('p', 0, [{ eventId, ...rest }]));
      expect((await store.read.event(TENANT, eventId))?.envelope.synthetic).toBe(true);
    });

    it('refuses a version that leaves a gap and one that is taken, by the name of the stream', async () => {
      const { store } = current();
      expect(await outcomeOf(store.commit(policyUnit('p', 1, [refused()])))).toBe('guard stream:policy/p');
      expect(await outcomeOf(store.commit(policyUnit('p', 0, [refused(), refused()])))).toBe('committed');
      expect(await outcomeOf(store.commit(policyUnit('p', 0, [refused()])))).toBe('guard stream:policy/p');
      expect(await outcomeOf(store.commit(policyUnit('p', 1, [refused()])))).toBe('guard stream:policy/p');
      expect(await outcomeOf(store.commit(policyUnit('p', 3, [refused()])))).toBe('guard stream:policy/p');
      expect(await outcomeOf(store.commit(policyUnit('p', 2, [refused()])))).toBe('committed');
      expect(await store.read.streamVersion({ kind: 'policy', id: 'p' })).toBe(3);
    });

    it('takes two appends to one stream in one unit, the second after the first', async () => {
      const { store } = current();
      const append = (expectedVersion: number) => ({
        stream: { kind: 'policy', id: 'p' } as const,
        expectedVersion,
        events: [refused()],
      });
      expect(await outcomeOf(store.commit(unit({ appends: [append(0), append(0)] })))).toBe('guard stream:policy/p');
      expect(await outcomeOf(store.commit(unit({ appends: [append(0), append(1)] })))).toBe('committed');
    });

    it.each<[string, NewEvent, string]>([
      ['of an unknown type', { ...refused(), type: 'policy.loosened' as never }, 'an event of an unregistered type'],
      [
        'with a field that its type does not have',
        refused({ payload: { problems: [], reason: 'x' } }),
        'payload of policy.activation_refused: unknown field reason',
      ],
      [
        'with a field of another kind',
        refused({ payload: { problems: 'none' } }),
        'payload of policy.activation_refused: field problems is not list',
      ],
      ['without a field', refused({ payload: {} }), 'payload of policy.activation_refused: field problems is not list'],
      [
        'of a producer that may not say it',
        refused({ producer: 'harness' }),
        'policy.activation_refused may not be produced by this producer',
      ],
      [
        'in a stream of another kind',
        event('tool.call.denied', { basis: 'policy', reasons: [] }),
        'tool.call.denied does not belong to a policy stream',
      ],
      [
        'caused by an event that does not exist',
        refused({ causationId: newId('event'), causeKind: 'event' }),
        'policy.activation_refused: its cause is no earlier event',
      ],
      [
        'that names a cause and says it has none',
        refused({ causationId: newId('event') }),
        'policy.activation_refused: a causationId goes with the cause kind "event" and with no other',
      ],
      [
        'that says it has a cause and names none',
        refused({ causeKind: 'event' }),
        'policy.activation_refused: a causationId goes with the cause kind "event" and with no other',
      ],
      [
        'with half a surrogate pair',
        refused({ payload: { problems: ['\ud800'] } }),
        'not JSON: half of a surrogate pair',
      ],
      [
        'with a number that is none',
        refused({ payload: { problems: [Number.NaN] } }),
        'not JSON: a number that is not finite',
      ],
    ])('refuses an event %s', async (_, wrong, message) => {
      const { store } = current();
      expect(await outcomeOf(store.commit(policyUnit('p', 0, [wrong])))).toBe(`error ${message}`);
      expect(await store.read.eventsAfter(-1, 10, null)).toEqual([]);
    });

    it('refuses a cause that comes later in the unit, or is the event itself', async () => {
      const { store } = current();
      const later = refused();
      const earlier = refused({ causationId: later.eventId, causeKind: 'event' });
      const own = { ...refused(), causeKind: 'event' } as const;
      for (const events of [[earlier, later], [{ ...own, causationId: own.eventId }]]) {
        expect(await outcomeOf(store.commit(policyUnit('p', 0, events)))).toBe(
          'error policy.activation_refused: its cause is no earlier event',
        );
      }
    });

    it('takes an earlier event of the unit and one of a lower position as cause', async () => {
      const { store } = current();
      const first = refused();
      const second = refused({ causationId: first.eventId, causeKind: 'event' });
      const third = refused({ causationId: first.eventId, causeKind: 'event' });
      expect(await outcomeOf(store.commit(policyUnit('p', 0, [first, second])))).toBe('committed');
      expect(await outcomeOf(store.commit(policyUnit('p', 2, [third])))).toBe('committed');
    });

    it('refuses an append of nothing and an expected version that is none', async () => {
      const { store } = current();
      expect(await outcomeOf(store.commit(policyUnit('p', 0, [])))).toBe('error an append holds no event');
      expect(await outcomeOf(store.commit(policyUnit('p', -1, [refused()])))).toBe(
        'error an expected version is no version',
      );
    });

    it.each([
      ['NUL', 'a\u0000b'],
      ['line and paragraph separators', 'a\u2028b\u2029c'],
      ['a character outside the basic plane', 'a\u{1f600}b'],
      ['controls and quotes', '\u0001\u001f\u007f"\\/'],
      ['combining marks, not normalised', 'e\u0301 \u00e9'],
      ['directional overrides', '\u202eabc\u202c'],
    ])('gives back text with %s unchanged, from payloads and from rows', async (_, text) => {
      const { store } = current();
      const { eventId, ...rest } = refused({ payload: { problems: [text, { [text]: text }] } });
      await store.commit({
        ...policyUnit('p', 0, [{ eventId, ...rest }]),
        writes: [{ op: 'put', table: 'meta', row: { name: `fact ${text}`, value: text } }],
      });
      expect((await store.read.event(TENANT, eventId))?.payload).toEqual({ problems: [text, { [text]: text }] });
      expect(await store.read.meta(`fact ${text}`)).toBe(text);
    });

    it('publishes durable units in the order of their positions, before their commit answers', async () => {
      const { store } = current();
      const seen: number[] = [];
      const early: boolean[] = [];
      const answered = new Set<string>();
      const stop = store.feed.subscribe('test', ({ unit, committed }) => {
        seen.push(committed.firstPosition);
        early.push(!answered.has(unit.unitId));
      });
      const units = Array.from({ length: 40 }, () => new CallScript().proposeAndDispatch());
      await Promise.all(units.map((one) => store.commit(one).then(() => answered.add(one.unitId))));
      expect(seen).toEqual(Array.from({ length: 40 }, (_, index) => index * 4));
      expect(early).not.toContain(false);
      stop();
      await store.commit(new CallScript().proposeAndDispatch());
      expect(seen).toHaveLength(40);
    });

    it('goes on when a listener throws, and reports it', async () => {
      const { store, problems } = current();
      const seen: number[] = [];
      store.feed.subscribe('bad', () => {
        throw new Error('broken listener');
      });
      store.feed.subscribe('good', ({ committed }) => seen.push(committed.firstPosition));
      await store.commit(new CallScript().proposeAndDispatch());
      expect(seen).toEqual([0]);
      expect(problems).toEqual(['listener bad of the feed has failed']);
    });

    it('does not publish a unit that failed', async () => {
      const { store } = current();
      let published = 0;
      store.feed.subscribe('test', () => (published += 1));
      await outcomeOf(store.commit(policyUnit('p', 7, [refused()])));
      expect(published).toBe(0);
    });
  });
}
