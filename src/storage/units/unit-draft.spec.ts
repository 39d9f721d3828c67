import { describe, expect, it } from '@jest/globals';
import { countedIds, ManualClock } from '../../../test/builders/manual-clock.js';
import { authorization, decision } from '../../../test/builders/tool-call-examples.js';
import { started } from '../../../test/builders/run-examples.js';
import type { DomainEvent } from '../../domain/events/catalogue.js';
import { UnitDraft, type UnitContext } from './unit-draft.js';

const NOW = '2031-01-01T10:00:00.000Z';
const CALL = { kind: 'call', id: 'call_1' } as const;
const RUN = { kind: 'run', id: 'run_1' } as const;
const AUTHORIZED: DomainEvent = { type: 'capability.authorized', payload: authorization() };
const DECIDED: DomainEvent = { type: 'policy.decided', payload: decision('propose') };
const STARTED: DomainEvent = { type: 'run.started', payload: started() };

const draftWith = (more: Partial<UnitContext> = {}): UnitDraft =>
  new UnitDraft(countedIds(new ManualClock(NOW)), {
    tenant: 'acme',
    lane: 'admit',
    actor: { sub: 'alice' },
    correlationId: 'call_1',
    occurredAt: NOW,
    causationId: null,
    causeKind: 'external',
    ...more,
  });

const eventsOf = (draft: UnitDraft) => draft.build().appends.flatMap(({ events }) => events);

describe('a unit in the making', () => {
  it('lets each event be caused by the one before it, across streams', () => {
    const draft = draftWith();
    draft.append(RUN, 0, [STARTED], {});
    draft.append(CALL, 0, [DECIDED, AUTHORIZED], {});
    const [first, second, third] = eventsOf(draft);
    expect(first).toMatchObject({ causationId: null, causeKind: 'external' });
    expect(second).toMatchObject({ causationId: first?.eventId, causeKind: 'event' });
    expect(third).toMatchObject({ causationId: second?.eventId, causeKind: 'event' });
    expect(draft.cause).toBe(third?.eventId);
  });

  it('begins with the event that led here', () => {
    const draft = draftWith({ causationId: 'evt_before', causeKind: 'timer' });
    draft.append(CALL, 3, [AUTHORIZED], {});
    expect(eventsOf(draft)[0]).toMatchObject({ causationId: 'evt_before', causeKind: 'event' });
  });

  it('says that time alone was the cause where nothing else was', () => {
    const draft = draftWith({ causeKind: 'timer' });
    draft.append(CALL, 3, [AUTHORIZED], {});
    expect(eventsOf(draft)[0]).toMatchObject({ causationId: null, causeKind: 'timer' });
  });

  it('gives every event what the unit is about, and lets an append say more and otherwise', () => {
    const draft = draftWith({ runId: 'run_1', sessionId: 'ses_1', commandId: 'cmd_1' });
    draft.append(CALL, 0, [DECIDED], { toolCallId: 'call_1', runId: 'run_2' });
    expect(eventsOf(draft)[0]?.refs).toEqual({
      runId: 'run_2',
      sessionId: 'ses_1',
      commandId: 'cmd_1',
      toolCallId: 'call_1',
    });
  });

  it('leaves out what it is not about', () => {
    const draft = draftWith();
    draft.append(CALL, 0, [DECIDED], {});
    expect(eventsOf(draft)[0]?.refs).toEqual({});
    expect(eventsOf(draft)[0]).not.toHaveProperty('synthetic');
  });

  it('marks every event of a unit in which recovery speaks for a dead process', () => {
    const draft = draftWith({ synthetic: true });
    draft.append(CALL, 0, [DECIDED, AUTHORIZED], {});
    expect(eventsOf(draft).map(({ synthetic }) => synthetic)).toEqual([true, true]);
  });

  it('names the first producer of the catalogue unless the append names another', () => {
    const draft = draftWith();
    draft.append(CALL, 0, [DECIDED], {});
    draft.append(RUN, 0, [STARTED], {}, 'capability-runtime');
    draft.append(RUN, 1, [STARTED], {});
    expect(eventsOf(draft).map(({ producer }) => producer)).toEqual([
      'policy-runtime',
      'capability-runtime',
      'session-runtime',
    ]);
  });

  it('appends nothing where there is nothing', () => {
    const draft = draftWith();
    expect(draft.append(CALL, 0, [], {})).toEqual([]);
    expect(draft.isEmpty).toBe(true);
    expect(draft.build().appends).toEqual([]);
  });

  it('is not empty once it has an event or a write', () => {
    const appended = draftWith();
    appended.append(CALL, 0, [DECIDED], {});
    expect(appended.isEmpty).toBe(false);
    expect(draftWith().write({ op: 'put', table: 'meta', row: { name: 'a', value: 'b' } }).isEmpty).toBe(false);
  });

  it('answers the ids of the events in order', () => {
    const draft = draftWith();
    const ids = draft.append(CALL, 0, [DECIDED, AUTHORIZED], {});
    expect(eventsOf(draft).map(({ eventId }) => eventId)).toEqual(ids);
    expect(new Set(ids).size).toBe(2);
  });

  it('asks for the rows of its streams once, when it is complete, in front of the other writes', () => {
    const draft = draftWith();
    draft.write({ op: 'put', table: 'meta', row: { name: 'own', value: '1' } });
    let asked = 0;
    draft.rowsFrom({
      rows: () => {
        asked += 1;
        return [{ op: 'put', table: 'meta', row: { name: 'from a stream', value: '1' } }];
      },
    });
    expect(asked).toBe(0);
    expect(draft.build().writes.map((write) => 'row' in write && 'name' in write.row && write.row.name)).toEqual([
      'from a stream',
      'own',
    ]);
    expect(asked).toBe(1);
  });

  it('carries guards and counters as they were given, in order', () => {
    const guard = (name: string) => ({ name, table: 'meta', where: { name }, expect: 'present' }) as const;
    const counter = { tenant: 'acme', key: 'calls', add: 1, max: 10 };
    const unit = draftWith().guard(guard('a')).guard(guard('b')).count(counter).build();
    expect(unit.guards.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(unit.counters).toEqual([counter]);
    expect(unit).toMatchObject({ tenant: 'acme', lane: 'admit', unitId: expect.stringMatching(/^unt_/) });
  });
});
