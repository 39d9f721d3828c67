import { describe, expect, it } from '@jest/globals';
import { MemoryStore } from '../../../test/builders/memory-store.js';
import { countedIds, ManualClock } from '../../../test/builders/manual-clock.js';
import { RUN_ROWS, runIn, started } from '../../../test/builders/run-examples.js';
import { decideRun } from '../../domain/run/run.decide.js';
import { RUN_OPEN_STATUSES, RUN_STATUSES } from '../../domain/run/run.state.js';
import { runFacts, runRow, runState, type RunFacts } from '../rows/run.row.js';
import { GuardFailed } from '../unit.js';
import { RunInUnit, runIsOpen } from './run-in-unit.js';
import { UnitDraft } from './unit-draft.js';

const START = '2031-01-01T09:00:00.000Z';
const FACTS: RunFacts = {
  run_id: 'run_1',
  tenant: 'acme',
  session_id: 'run_1',
  version: 0,
  created_at: START,
  updated_at: START,
};
const clock = new ManualClock(START);
const ids = countedIds(clock);

const draftOf = (occurredAt = START): UnitDraft =>
  new UnitDraft(ids, {
    tenant: 'acme',
    lane: 'govern',
    actor: { sub: 'alice' },
    correlationId: 'run_1',
    occurredAt,
    causationId: null,
    causeKind: 'external',
  });

const opened = (runId: string, label: string | null): UnitDraft => {
  const draft = draftOf();
  new RunInUnit(draft, { state: null, facts: { ...FACTS, run_id: runId } }).do({
    kind: 'start',
    start: started({ label }),
  });
  return draft;
};

describe('a run in a unit', () => {
  it('is a row of its own when it starts', async () => {
    const store = new MemoryStore(clock);
    await store.commit(opened('run_1', 'label:x').build());
    expect(store.rows('runs')).toEqual([
      expect.objectContaining({ run_id: 'run_1', status: 'running', label: 'label:x', version: 1 }),
    ]);
    expect(store.events[0]?.envelope).toMatchObject({ streamKind: 'run', streamId: 'run_1', runId: 'run_1' });
  });

  it('loses the race for its label to the one that was first', async () => {
    const store = new MemoryStore(clock);
    await store.commit(opened('run_1', 'label:x').build());
    await expect(store.commit(opened('run_2', 'label:x').build())).rejects.toMatchObject({ guard: 'run_label' });
    expect(store.events).toHaveLength(1);
  });

  it('moves by compare-and-set on its version', async () => {
    const store = new MemoryStore(clock);
    await store.commit(opened('run_1', null).build());
    const [row] = store.rows('runs');
    if (row === undefined) throw new Error('no run');
    const later = '2031-01-01T09:30:00.000Z';
    const ends = [draftOf(later), draftOf(later)] as const;
    for (const draft of ends) {
      new RunInUnit(draft, { state: runState(row), facts: runFacts(row) }).do(
        { kind: 'complete', completion: { reason: 'idle' }, openCalls: 0 },
        'recovery',
      );
    }
    await store.commit(ends[0].build());
    await expect(store.commit(ends[1].build())).rejects.toThrow(GuardFailed);
    expect(store.rows('runs')[0]).toMatchObject({
      status: 'completed',
      end_reason: 'idle',
      version: 2,
      updated_at: later,
    });
    expect(store.events.at(-1)?.envelope.producer).toBe('recovery');
  });

  it('refuses with the code of the table', () => {
    const run = new RunInUnit(draftOf(), { state: runIn('running'), facts: { ...FACTS, version: 1 } });
    expect(() => run.do({ kind: 'complete', completion: {}, openCalls: 1 })).toThrow(
      expect.objectContaining({ code: 'run_has_open_work' }) as unknown as Error,
    );
  });

  it('leaves a row that says the same as its state, for every command in every status', () => {
    for (const status of RUN_STATUSES) {
      for (const { trial } of RUN_ROWS) {
        const base = runIn(status);
        const state = trial.given?.(base) ?? base;
        const command = trial.command(state);
        if (!decideRun(state, command).ok) continue;
        const draft = draftOf();
        new RunInUnit(draft, { state, facts: { ...FACTS, version: 3 } }).do(command);
        const unit = draft.build();
        const count = unit.appends.reduce((sum, { events }) => sum + events.length, 0);
        const write = unit.writes[0];
        if (count === 0) {
          expect(write).toBeUndefined();
          continue;
        }
        if (write?.op !== 'set' || write.table !== 'runs') throw new Error('a run that moves has its row set');
        expect(write.where).toEqual({ run_id: 'run_1', version: 3 });
        const row = { ...runRow({ ...FACTS, version: 3 }, state), ...write.set };
        expect(row.version).toBe(3 + count);
        expect(runRow(runFacts(row), runState(row))).toEqual(row);
      }
    }
  });
});

describe('the guard of an open run', () => {
  it.each(RUN_STATUSES)('on a run that is %s holds exactly where calls may be proposed', async (status) => {
    const store = new MemoryStore(clock);
    store.seed('runs', { ...runRow({ ...FACTS, version: 1 }, runIn(status)), status });
    const unit = draftOf().guard(runIsOpen('run_1')).build();
    const open = (RUN_OPEN_STATUSES as readonly string[]).includes(status);
    const committed = await store.commit(unit).then(
      () => true,
      (error: unknown) => (error instanceof GuardFailed ? error.guard : error),
    );
    expect(committed).toBe(open ? true : 'run_open');
  });

  it('does not hold for a run that does not exist', async () => {
    await expect(new MemoryStore(clock).commit(draftOf().guard(runIsOpen('run_9')).build())).rejects.toThrow(
      GuardFailed,
    );
  });
});
