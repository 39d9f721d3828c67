import { describe, expect, it } from '@jest/globals';
import { CoreWorld, HEADER, KEY, said } from '../../test/builders/conversation-examples.js';
import { agentStateOf, FakeRecord, refusal, seqsIn, SessionWorld } from '../../test/builders/session-world.js';
import type { NewSessionEvent } from '../domain/session/session.append.js';
import type { SessionEvent } from '../domain/session/session-row.js';
import type { SessionSnapshot } from '../domain/session/session-state.js';
import { rowOf } from './row-memory.js';
import type { GovernedEvent } from './session-record.js';

const BEGUN = [said.turn(), said.step(), said.message('m-1', 'c')];
const DONE = [said.turn(), said.step(), said.message('m-1'), said.stepEnd(), said.turnEnd()];

type Part = NewSessionEvent | ((record: FakeRecord) => GovernedEvent);

/** A stored session: a run, then these appends and governed events, all of them in the log. */
function stored(...parts: readonly Part[]): SessionWorld {
  const world = new SessionWorld();
  const core = new CoreWorld();
  core.mirror(world.record.governed.run());
  for (const part of parts) {
    if (typeof part === 'function') core.mirror(part(world.record));
    else if (core.append(part, part.eventType === 'tool.message' ? 'recovery' : 'harness') !== 'ok')
      throw new Error(part.eventType);
  }
  world.logs.log.rows = core.facts.map(rowOf);
  return world;
}

function snapshotAt(world: SessionWorld, lastSeq: number, change: Partial<SessionSnapshot> = {}): SessionSnapshot {
  const seqs = Array.from({ length: lastSeq + 1 }, (_, seq) => seq);
  return {
    envelopeVersion: 1,
    ...KEY,
    position: { lastSeq, lastEventId: world.logs.log.rows[lastSeq]?.eventId ?? 'evt-beyond', sessionFormatVersion: 1 },
    agentState: { ...agentStateOf(KEY.sessionId, { seqs }), isRunning: true },
    runState: null,
    versionSetId: 'v1',
    ...change,
  };
}

function keep(
  world: SessionWorld,
  lastSeq: number,
  loadSource: 'main' | 'bak' = 'main',
  notResumable = false,
): SessionWorld {
  world.snapshots.stored = { snapshot: snapshotAt(world, lastSeq), loadSource, notResumable };
  return world;
}

const changedRow = (world: SessionWorld, at: number, change: object): SessionWorld => {
  world.logs.log.rows[at] = { ...world.logs.log.rows[at], ...change } as SessionEvent;
  return world;
};

const call =
  (type: string, payload = {}) =>
  (record: FakeRecord): GovernedEvent =>
    record.governed.call(type, 'c', payload);
const run =
  (type: string) =>
  (record: FakeRecord): GovernedEvent =>
    record.governed.run(type);
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error: { code?: string }) => error.code ?? 'untyped',
  );

/** Rows of the matrix that refuse: what is stored, and the code. Nothing is written. */
const REFUSALS: readonly (readonly [string, string, () => SessionWorld])[] = [
  [
    '4: the header is of another session',
    'session_identity_mismatch',
    () => {
      const world = stored(...DONE);
      world.logs.log.header = { ...HEADER, sessionId: 'ses-2' };
      return world;
    },
  ],
  [
    '4: the snapshot is of another session',
    'session_identity_mismatch',
    () => {
      const world = keep(stored(...DONE), 3);
      world.snapshots.stored = {
        snapshot: snapshotAt(world, 3, { sessionId: 'ses-2' }),
        loadSource: 'main',
        notResumable: false,
      };
      return world;
    },
  ],
  [
    '4 before 5',
    'session_identity_mismatch',
    () => {
      const world = stored(...DONE);
      world.logs.loadFaults = [refusal('session_identity_mismatch')];
      world.snapshots.stored = refusal('schema_version_unsupported');
      return world;
    },
  ],
  [
    '5: a newer snapshot, even beside a damaged log',
    'schema_version_unsupported',
    () => {
      const world = stored(...DONE);
      world.logs.loadFaults = [refusal('session_log_corrupt')];
      world.snapshots.stored = refusal('schema_version_unsupported');
      return world;
    },
  ],
  [
    '6: a newer header',
    'session_format_unsupported',
    () => {
      const world = stored(...DONE);
      world.logs.log.header = { ...HEADER, formatVersion: 2 };
      return world;
    },
  ],
  [
    '6: a codec of a newer program',
    'session_format_unsupported',
    () => {
      const world = stored(...DONE);
      world.logs.loadFaults = [refusal('session_format_unsupported')];
      return world;
    },
  ],
  [
    '6: an unknown required event',
    'session_format_unsupported',
    () => changedRow(stored(...DONE), 1, { eventType: 'turn.sung' }),
  ],
  [
    '7: damage that the medium found',
    'session_log_corrupt',
    () => {
      const world = stored(...DONE);
      world.logs.loadFaults = [refusal('session_log_corrupt')];
      return world;
    },
  ],
  ['7: a gap', 'session_log_corrupt', () => changedRow(stored(...DONE), 4, { seq: 9 })],
  [
    '7: a mirrored event at another position',
    'session_log_corrupt',
    () => changedRow(stored(...DONE), 0, { position: 7 }),
  ],
  [
    '7: a mirrored event with another commitment',
    'session_log_corrupt',
    () => changedRow(stored(...DONE), 0, { payloadCommitment: 'x' }),
  ],
  [
    '7: a mirrored event with another envelope',
    'session_log_corrupt',
    () => {
      const world = stored(...DONE);
      const [mirror] = world.logs.log.rows;
      return mirror?.kind === 'mirror'
        ? changedRow(world, 0, { envelope: { ...mirror.envelope, correlationId: 'run-7' } })
        : world;
    },
  ],
  [
    '7: a mirrored event that the store does not know',
    'session_log_corrupt',
    () => {
      const world = stored(...DONE);
      world.record.governed.all.length = 0;
      return world;
    },
  ],
  ['8: nothing at all', 'session_not_found', () => new SessionWorld()],
  [
    '8: things were done in the session, and its log is gone',
    'session_not_found',
    () => {
      const world = new SessionWorld();
      world.record.governed.run();
      return world;
    },
  ],
  [
    '10: a snapshot without its log',
    'log_missing_for_snapshot',
    () => {
      const world = keep(stored(...DONE), 3);
      world.logs.artefacts.clear();
      return world;
    },
  ],
  [
    '11: no log, and a snapshot that cannot be read',
    'state_corrupt',
    () => {
      const world = new SessionWorld();
      world.snapshots.stored = refusal('state_corrupt');
      return world;
    },
  ],
  ['12: a snapshot beyond the log', 'snapshot_ahead_of_log', () => keep(stored(...DONE), 9)],
  [
    '12: another event where the snapshot stands',
    'snapshot_ahead_of_log',
    () => {
      const world = stored(...DONE);
      const position = { lastSeq: 1, lastEventId: 'evt-other', sessionFormatVersion: 1 };
      world.snapshots.stored = {
        snapshot: snapshotAt(world, 1, { position }),
        loadSource: 'main',
        notResumable: false,
      };
      return world;
    },
  ],
  [
    '12 before 13: a torn log that is shorter than its snapshot',
    'snapshot_ahead_of_log',
    () => {
      const world = keep(stored(...DONE), 9);
      world.logs.log.torn = true;
      return world;
    },
  ],
  [
    '13 with an owner elsewhere',
    'session_live_open_turn',
    () => {
      const world = stored(...DONE);
      world.logs.log.torn = true;
      world.record.ownedElsewhere = true;
      return world;
    },
  ],
  [
    '14 with an owner elsewhere',
    'session_live_open_turn',
    () => {
      const world = stored(...BEGUN);
      world.record.ownedElsewhere = true;
      return world;
    },
  ],
];

describe('the load matrix, where it refuses', () => {
  it.each(REFUSALS)('row %s: %s, and nothing is written [D-06, D-66, D-67, D-68, P-30]', async (_, code, make) => {
    const world = make();
    const before = JSON.stringify([...world.logs.artefacts]);
    expect(await codeOf(world.coordinator().prepare(KEY))).toBe(code);
    expect(JSON.stringify([...world.logs.artefacts])).toBe(before);
    expect([world.record.units, world.logs.calls.filter((name) => !name.startsWith('load'))]).toEqual([[], []]);
  });

  it.each(['', '../other', 'a/b', 'a\u0000b'])(
    'row 1: refuses the id %j before anything is read',
    async (sessionId) => {
      const world = new SessionWorld();
      expect(await codeOf(world.coordinator().open({ ...KEY, sessionId }))).toBe('invalid_session_id');
      expect(world.logs.calls).toEqual([]);
    },
  );

  it('passes on an error of the medium as it is', async () => {
    const world = stored(...DONE);
    world.logs.loadFaults = [new Error('EIO')];
    await expect(world.coordinator().prepare(KEY)).rejects.toThrow('EIO');
  });

  it('row 18, strict: a fallback is refused [U-11]', async () => {
    const world = keep(stored(...DONE), 3, 'bak');
    expect(await codeOf(world.coordinator({ strictSnapshots: true }).prepare(KEY))).toBe('state_corrupt');
  });
});

describe('the load matrix, where it accepts', () => {
  it('row 9: a state of an earlier layout begins a log', async () => {
    const world = new SessionWorld();
    const snapshot = { ...snapshotAt(world, 0), position: null };
    world.logs.artefacts.clear();
    world.snapshots.stored = { snapshot, loadSource: 'main', notResumable: false };
    const live = await world.coordinator().open(KEY);
    expect(world.record.units).toEqual(['imported']);
    await live.flush();
    expect(world.logs.log.rows).toMatchObject([{ kind: 'mirror', envelope: { eventType: 'session.imported' } }]);
    expect(live.state().agentState.metadata['seqs']).toEqual([0, 0]);
  });

  it('row 8, new: a session in which nothing was said or done yet has no log', async () => {
    const world = new SessionWorld();
    world.record.governed.add('session.opened');
    const live = await world.coordinator().open(KEY);
    expect([live.status().headSeq, world.logs.artefacts.size]).toEqual([0, 0]);
  });

  it('row 13: an unfinished end is cut, said and read again [D-59]', async () => {
    const world = stored(...DONE);
    world.logs.log.torn = true;
    const live = await world.coordinator().open(KEY);
    expect(world.logs.calls).toEqual(['load', 'repair cut 0', 'load']);
    expect([world.record.units, world.record.diagnostics]).toEqual([['repaired'], ['persistence.torn_tail_repaired']]);
    expect(live.status().headSeq).toBe(6);
  });

  it('row 13, then 14: a cut log whose turn is open is closed in the order cut, unit, closers', async () => {
    const world = stored(...BEGUN);
    world.logs.log.torn = true;
    const { tail } = await world.coordinator().prepare(KEY);
    expect(tail).toBe('balanced');
    expect(world.logs.calls).toEqual(['load', 'repair cut 0', 'load', 'load', 'repair 5', 'load']);
    expect(world.record.units).toEqual(['repaired', 'interruption']);
  });

  it('row 14: an open turn is closed with what is missing, and the log has it [D-57, D-59]', async () => {
    const world = stored(...BEGUN);
    const preparation = await world.coordinator().prepare(KEY);
    const closers = world.logs.log.rows.slice(5);
    expect(
      closers.map(
        (row) =>
          row.kind === 'event' && [row.eventType, row.synthetic, row.payload['disposition'] ?? row.payload['outcome']],
      ),
    ).toEqual([
      ['tool.message', true, 'not_executed'],
      ['step.ended', true, 'interrupted'],
      ['turn.ended', true, 'interrupted'],
    ]);
    expect(preparation).toMatchObject({ tail: 'balanced', lastSeq: 7, lastEventId: closers.at(-1)?.eventId });
  });

  it.each([
    [
      'a: approval pending',
      [
        call('tool.call.proposed'),
        (record: FakeRecord) => record.governed.add('approval.required', { turnId: 'turn-1', approvalId: 'a' }),
      ],
    ],
    ['b: approval granted, nothing sent', [call('tool.call.proposed'), call('capability.authorized')]],
    ['c: one call allowed, one not proposed', [call('tool.call.proposed')]],
    [
      'd: sent, effect not known',
      [call('tool.call.proposed'), call('tool.call.dispatching'), call('tool.call.result_unknown')],
    ],
    ['e: the same of low risk', [call('tool.call.proposed'), call('tool.call.dispatching')]],
  ])('row 15, %s: the turn stays open and nothing is written [P-27, U-05]', async (_, parts) => {
    const world = stored(...BEGUN, ...parts);
    expect((await world.coordinator().prepare(KEY)).tail).toBe('durable_wait');
    expect([world.record.units, world.logs.calls]).toEqual([[], ['load']]);
  });

  it('row 14, f: a stream is closed as interrupted, and its pieces stay [P-27]', async () => {
    const world = stored(said.turn(), said.step(), said.delta(0), said.delta(1));
    await world.coordinator().prepare(KEY);
    expect(
      world.logs.log.rows.map((row) => (row.kind === 'event' ? row.eventType : row.envelope.eventType)).slice(3),
    ).toEqual(['assistant.delta', 'assistant.delta', 'run.interrupted', 'step.ended', 'turn.ended']);
  });

  it('row 14: the turn of a run that has ended is closed without interrupting it', async () => {
    const world = stored(...BEGUN, run('run.completed'));
    expect((await world.coordinator().prepare(KEY)).tail).toBe('balanced');
    expect(world.record.units).toEqual([]);
  });

  it('row 15 counts governed events that the log lacks', async () => {
    const world = stored(...BEGUN);
    world.record.governed.call('tool.call.proposed', 'c');
    expect((await world.coordinator().prepare(KEY)).tail).toBe('durable_wait');
  });

  it('row 16: a balanced log is accepted as it is, however often [D-58]', async () => {
    const world = stored(...BEGUN);
    const first = await world.coordinator().prepare(KEY);
    const rows = [...world.logs.log.rows];
    const second = await world.coordinator().prepare(KEY);
    expect(world.logs.log.rows).toEqual(rows);
    expect(second).toEqual(first);
  });

  it('governed events that the log lacks are mirrored when it is opened, and their answers given', async () => {
    const world = stored(...BEGUN, call('tool.call.proposed'));
    world.record.governed.call('tool.call.completed', 'c', { result: 'paid' });
    const done = world.coordinator();
    const live = await done.open(KEY).catch(async () => done.open(KEY));
    await live.flush();
    expect(world.logs.log.rows.filter((row) => row.kind === 'event' && row.eventType === 'tool.message')).toHaveLength(
      1,
    );
    const again = await new SessionWorld(world.logs, world.snapshots, world.record).coordinator().prepare(KEY);
    expect(again.lastSeq).toBe(world.logs.log.rows.length - 1);
  });

  it.each([
    ['17: from the snapshot on', (world: SessionWorld) => keep(world, 3), 'main', []],
    [
      '18: from the one before it, said aloud',
      (world: SessionWorld) => keep(world, 2, 'bak'),
      'bak',
      ['persistence.snapshot_fallback_used'],
    ],
    ['20: from the first row', (world: SessionWorld) => world, 'rebuilt', []],
  ])('row %s, the state is that of all facts [U-01, U-11]', async (_, keeps, loadSource, diagnostics) => {
    const world = keeps(stored(...DONE));
    const { state, ...preparation } = await world.coordinator().prepare(KEY);
    expect(seqsIn(state)).toEqual([0, 1, 2, 3, 4, 5]);
    expect([preparation.loadSource, world.record.diagnostics]).toEqual([loadSource, diagnostics]);
  });

  it('row 19: what no snapshot can say is rebuilt from the log, said aloud [U-12, P-31]', async () => {
    const world = stored(...DONE);
    world.snapshots.stored = refusal('state_corrupt');
    const { state } = await world.coordinator().prepare(KEY);
    expect([seqsIn(state).length, world.record.diagnostics]).toEqual([6, ['persistence.snapshot_rebuilt']]);
  });

  it('row 21: a mark without an end on record ends the run unrecorded [U-15]', async () => {
    const world = keep(stored(...DONE), 3, 'main', true);
    const { state, notResumable } = await world.coordinator().prepare(KEY);
    expect([world.record.units, notResumable, state.agentState.isRunning]).toEqual([['not resumable'], true, false]);
  });

  it('row 21: a mark holds even where the store records nothing for it', async () => {
    const world = keep(stored(...DONE), 3, 'main', true);
    world.record.markNotResumable = async () => {};
    const { state, notResumable } = await world.coordinator().prepare(KEY);
    expect([notResumable, state.agentState.isRunning]).toEqual([true, false]);
  });

  it('row 22: an end on record stays what it is', async () => {
    const world = keep(stored(...DONE, run('run.completed')), 3, 'main', true);
    await world.coordinator().prepare(KEY);
    expect(world.record.units).toEqual([]);
  });

  it('row 23: the log wins over a snapshot that says running', async () => {
    const world = keep(stored(...DONE, run('run.completed')), 6);
    const { state } = await world.coordinator().prepare(KEY);
    expect(state.agentState.isRunning).toBe(false);
  });

  it('row 27: a preparation is dropped when the log was changed meanwhile, and refused when that goes on [D-22, D-60]', async () => {
    const world = stored(...DONE);
    let changes = 1;
    world.logs.beforeRevision = () => {
      if (changes-- > 0) world.logs.log.revision += 1;
    };
    expect(await codeOf(world.coordinator().prepare(KEY))).toBe('ok');
    expect(world.logs.calls).toEqual(['load', 'load']);
    changes = 99;
    expect(await codeOf(world.coordinator().prepare(KEY))).toBe('revision_stale');
  });

  it('row 28: what is published is frozen, and says no more than is durable [D-60, D-71]', async () => {
    const world = stored(...DONE);
    const preparation = await world.coordinator().prepare(KEY);
    expect(preparation).toMatchObject({ lastSeq: 5, revision: '1' });
    expect(Object.isFrozen(preparation)).toBe(true);
  });
});

describe('a load that is broken off', () => {
  it.each([
    ['before the cut', (world: SessionWorld) => (world.logs.writeFaults = [new Error('crash')])],
    ['between the cut and the unit', (world: SessionWorld) => (world.record.unitFault = new Error('crash'))],
    ['before the closers', (world: SessionWorld) => (world.logs.writeFaults = [null, new Error('crash')])],
  ])('%s ends in the same log when it is done again [D-58, D-59]', async (_, breaks) => {
    const world = stored(...BEGUN);
    world.logs.log.torn = true;
    breaks(world);
    await expect(world.coordinator().prepare(KEY)).rejects.toThrow('crash');
    world.record.unitFault = null;
    await world.coordinator().prepare(KEY);
    const types = world.logs.log.rows
      .filter((row) => row.kind === 'event')
      .slice(3)
      .map((row) => row.eventType);
    expect(types).toEqual(['tool.message', 'step.ended', 'turn.ended']);
    expect(world.record.units.filter((unit) => unit === 'interruption')).toHaveLength(1);
  });
});
