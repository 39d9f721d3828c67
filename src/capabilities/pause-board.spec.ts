import { describe, expect, it } from '@jest/globals';
import { MemoryStore } from '../../test/builders/memory-store.js';
import { ManualClock } from '../../test/builders/manual-clock.js';
import type { TableRow } from '../storage/rows/tables.js';
import type { Unit } from '../storage/unit.js';
import { PAUSE_REVISION, PauseBoard } from './pause-board.js';

const clock = new ManualClock('2031-01-01T10:00:00.000Z');
const AGENT = { sub: 'alice', act: 'agent-7' };

const pause = (
  target_kind: TableRow<'pauses'>['target_kind'],
  target: string,
  tenant = 'acme',
): TableRow<'pauses'> => ({ tenant, target_kind, target, reason: null, set_event_id: 'evt_1', set_at: clock.iso });

async function boardWith(...rows: readonly TableRow<'pauses'>[]): Promise<{ board: PauseBoard; store: MemoryStore }> {
  const store = new MemoryStore(clock);
  for (const row of rows) store.seed('pauses', row);
  store.seed('meta', { name: PAUSE_REVISION, value: 'rev-1' });
  const board = new PauseBoard(store.read, store.feed, (name) => `${name}@2.0.0`);
  await board.reload();
  return { board, store };
}

const unitWith = (parts: Partial<Unit>): Unit => ({
  unitId: 'unt_1',
  tenant: 'acme',
  lane: 'govern',
  guards: [],
  appends: [],
  writes: [],
  counters: [],
  ...parts,
});

describe('what is paused', () => {
  it.each([
    ['everything', pause('all', '', '*'), true],
    ['its tenant', pause('tenant', 'acme'), true],
    ['another tenant', pause('tenant', 'globex', 'globex'), false],
    ['the person it acts for', pause('principal', 'alice'), true],
    ['the agent that acts', pause('principal', 'agent-7'), true],
    ['somebody else', pause('principal', 'bob'), false],
    ['the same name in another tenant', pause('principal', 'alice', 'globex'), false],
    ['its capability', pause('capability', 'refund.create'), true],
    ['the version in force of its capability', pause('capability', 'refund.create@2.0.0'), true],
    ['another version of its capability', pause('capability', 'refund.create@1.0.0'), false],
    ['the version of another capability', pause('capability', 'payout.create@2.0.0'), false],
    ['its version in another tenant', pause('capability', 'refund.create@2.0.0', 'globex'), false],
    ['another capability', pause('capability', 'payout.create'), false],
    ['its capability in another tenant', pause('capability', 'refund.create', 'globex'), false],
    ['a person whose name is that of the capability', pause('principal', 'refund.create'), false],
    ['its agent, suspended', pause('agent', 'agent-7'), true],
    ['another agent, suspended', pause('agent', 'agent-8'), false],
    ['an agent of that name in another tenant', pause('agent', 'agent-7', 'globex'), false],
  ])('holds a call where it is %s: %p', async (_, row, holds) => {
    const { board } = await boardWith(row);
    expect(board.find('acme', AGENT, 'refund.create')).toEqual(holds ? row : null);
  });

  it('holds nothing of a principal without an agent that the name of nobody could match', async () => {
    const { board } = await boardWith(pause('principal', 'undefined'));
    expect(board.find('acme', { sub: 'alice' }, 'refund.create')).toBeNull();
  });

  it('is read again when a unit changed it, and not for every unit', async () => {
    const { board, store } = await boardWith();
    await store.commit(unitWith({ writes: [{ op: 'put', table: 'meta', row: { name: 'other', value: '1' } }] }));
    store.seed('meta', { name: PAUSE_REVISION, value: 'rev-2' });
    await new Promise((resolve) => setImmediate(resolve));
    expect(board.revision).toBe('rev-1');
    await store.commit(
      unitWith({ writes: [{ op: 'insert', table: 'pauses', row: pause('all', ''), takenGuard: 'pause' }] }),
    );
    await new Promise((resolve) => setImmediate(resolve));
    expect(board.revision).toBe('rev-2');
    expect(board.list()).toHaveLength(1);
  });
});

describe('the guard of pauses', () => {
  it('holds while nothing was paused since it was looked at', async () => {
    const { board, store } = await boardWith();
    await expect(store.commit(unitWith({ guards: [board.guard()] }))).resolves.toBeDefined();
  });

  it('fails once somebody else paused anything, until the board looks again', async () => {
    const { board, store } = await boardWith();
    store.seed('meta', { name: PAUSE_REVISION, value: 'rev-2' });
    await expect(store.commit(unitWith({ guards: [board.guard()] }))).rejects.toMatchObject({ guard: 'pauses' });
    await board.reload();
    await expect(store.commit(unitWith({ guards: [board.guard()] }))).resolves.toBeDefined();
  });

  it('never stands beside the pauses of another reload, whichever of two ends last', async () => {
    const { board, store } = await boardWith();
    const { pauses } = store.read;
    let release: () => void = () => {};
    const slow = new Promise<void>((resolve) => (release = resolve));
    const before = await pauses();
    store.read.pauses = () => slow.then(() => before);
    const late = board.reload();
    await new Promise((resolve) => setImmediate(resolve));
    store.read.pauses = pauses;
    store.seed('pauses', pause('all', ''));
    store.seed('meta', { name: PAUSE_REVISION, value: 'rev-2' });
    await board.reload();
    // Whoever reads while the late reload is half way must not see its pauses under the newer revision.
    const { heldCapabilities } = store.read;
    store.read.heldCapabilities = async () => {
      expect([board.revision, board.list().length]).toEqual(['rev-2', 1]);
      return heldCapabilities();
    };
    release();
    await late;
    expect([board.revision, board.list().length]).toEqual(['rev-1', 0]);
    expect.assertions(2);
  });

  it('is the older one after a reload that could not read, and the process lives', async () => {
    const { board, store } = await boardWith();
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    store.read.pauses = () => Promise.reject(new Error('disk'));
    store.seed('meta', { name: PAUSE_REVISION, value: 'rev-2' });
    await store.commit(
      unitWith({ writes: [{ op: 'insert', table: 'pauses', row: pause('all', ''), takenGuard: 'pause' }] }),
    );
    await new Promise((resolve) => setTimeout(resolve, 5));
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
    expect(board.revision).toBe('rev-1');
  });

  it('never passes for pauses that are older than the revision it names', async () => {
    const { board, store } = await boardWith();
    const { pauses } = store.read;
    store.read.pauses = async () => {
      const seen = await pauses();
      store.seed('pauses', pause('all', ''));
      store.seed('meta', { name: PAUSE_REVISION, value: 'rev-2' });
      return seen;
    };
    await board.reload();
    expect(board.list()).toEqual([]);
    await expect(store.commit(unitWith({ guards: [board.guard()] }))).rejects.toMatchObject({ guard: 'pauses' });
  });
});

describe('an agent that is suspended', () => {
  it('is paused, except for capabilities whose policies decide about suspended agents themselves', async () => {
    const { board } = await boardWith(pause('agent', 'agent-7'));
    board.leaveSuspensions((capability) => capability === 'order.read');
    expect(board.find('acme', AGENT, 'refund.create')).toMatchObject({ target_kind: 'agent' });
    expect(board.find('acme', AGENT, 'order.read')).toBeNull();
  });

  it('is known as such, in its own tenant and whoever it acts for', async () => {
    const { board } = await boardWith(pause('agent', 'agent-7'), pause('principal', 'bob'));
    expect(board.isSuspended('acme', { sub: 'carol', act: 'agent-7' })).toBe(true);
    expect(board.isSuspended('acme', { sub: 'agent-7' })).toBe(true);
    expect(board.isSuspended('globex', AGENT)).toBe(false);
    expect(board.isSuspended('acme', { sub: 'bob' })).toBe(false);
  });
});
