import { describe, expect, it } from '@jest/globals';
import { AGENT, Installation, OPERATOR, TENANT, callerWith } from '../../test/builders/installation.js';
import { settingsWith } from '../../test/builders/settings-examples.js';
import { AcceptRestore } from '../control/accept-restore/accept-restore.command.js';
import { AcceptRestoreHandler } from '../control/accept-restore/accept-restore.handler.js';
import type { Caller } from '../identity/caller.js';
import { META_HEAD_ACCEPTED, META_HEAD_KEPT, META_HOLD, acceptedWord, markOfCopy } from '../storage/hold.js';
import { PAUSE_REVISION } from './pause-board.js';
import { StoreHold } from './store-hold.js';

class Bench {
  readonly installation = new Installation({ settings: settingsWith({ installation: { operatorTenant: TENANT } }) });
  readonly hold = this.newProcess();

  /** What a process that starts on the store has in memory. */
  newProcess(): StoreHold {
    return new StoreHold(this.installation.desk, this.installation.pauses);
  }

  get custody() {
    return this.installation.store.custody;
  }

  meta(name: string): string | undefined {
    return this.installation.store.rows('meta').find((row) => row.name === name)?.value;
  }

  types(): readonly string[] {
    return this.installation.store.events.map(({ envelope }) => envelope.eventType);
  }

  /** The store is behind a note of ten events. */
  async behind(): Promise<void> {
    this.custody.known = { size: 10, root: 'ab'.repeat(32), leaf: 'cd'.repeat(32), nodes: [] };
    this.custody.comparison = { finding: 'behind', complete: false };
    await this.hold.begin();
  }

  accept(reason = 'looked at', caller: Caller = OPERATOR): Promise<unknown> {
    const { commands, settings } = this.installation;
    const handler = new AcceptRestoreHandler(commands, this.hold, settings);
    return codeOf(handler.execute(new AcceptRestore(caller, reason, 'accept-1')));
  }
}

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'accepted',
    (error: { code?: string }) => error.code ?? error,
  );

describe('a store that is as it was known', () => {
  it('is not held, and its note is kept from now on', async () => {
    const bench = new Bench();
    expect(await bench.hold.begin()).toBeNull();
    expect(bench.hold.current).toBeNull();
    expect([bench.custody.kept, bench.meta(META_HEAD_KEPT)]).toEqual([1, '1']);
    expect(await codeOf(bench.installation.propose())).toBe('accepted');
    expect(await bench.accept()).toBe('store_not_held');
  });
});

describe('a store that is behind', () => {
  it('is held on record, once for all starts, with its note left as it was', async () => {
    const bench = new Bench();
    await bench.behind();
    const revision = bench.meta(PAUSE_REVISION);
    expect(bench.hold.current).toMatchObject({ reason: 'behind', knownSize: 10, complete: false });
    await bench.newProcess().begin();
    expect(bench.types()).toEqual(['ledger.restore_detected']);
    expect([bench.custody.kept, revision === '0', bench.meta(PAUSE_REVISION) === revision]).toEqual([0, false, true]);
  });

  it('admits nothing, and records nothing of what it refused', async () => {
    const bench = new Bench();
    await bench.behind();
    expect(await codeOf(bench.installation.propose())).toBe('store_held');
    expect(bench.types()).toEqual(['ledger.restore_detected']);
  });

  it('goes on after an operator has accepted it, on record and once', async () => {
    const bench = new Bench();
    await bench.behind();
    expect(await bench.accept()).toBe('accepted');
    expect(bench.installation.store.lastTypes).toEqual([]);
    expect(bench.types()).toEqual(['ledger.restore_detected', 'control.accepted', 'ledger.restore_accepted']);
    const [acceptance] = bench.installation.store.events.slice(-1);
    expect(acceptance?.payload).toMatchObject({
      reason: 'looked at',
      knownSize: 10,
      knownRoot: 'ab'.repeat(32),
      size: 1,
    });
    expect(bench.custody.kept).toBe(1);
    expect(await codeOf(bench.installation.propose())).toBe('accepted');
    // The same command again is the same command.
    expect(await bench.accept()).toBe('accepted');
    expect(bench.types().filter((type) => type === 'ledger.restore_accepted')).toHaveLength(1);
  });

  it.each<[string, Caller]>([
    ['an agent', AGENT],
    ['an operator of another tenant', callerWith({ ...OPERATOR, tenant: 'globex' })],
  ])('is not accepted by %s', async (_, caller) => {
    const bench = new Bench();
    await bench.behind();
    expect(await bench.accept('because', caller)).toBe('not_authorized');
    expect(bench.hold.current).not.toBeNull();
    expect(bench.types()).not.toContain('ledger.restore_accepted');
  });

  it('is not held again when the process dies between the acceptance and the new note', async () => {
    const bench = new Bench();
    await bench.behind();
    bench.custody.keep = () => Promise.reject(new Error('killed here'));
    await bench.accept();
    expect(bench.meta(META_HEAD_ACCEPTED)).toBe(acceptedWord(bench.custody.known));
    expect(bench.meta(META_HOLD)).toBe('');
  });

  it('forgets the note that was given up once there is a new one', async () => {
    const bench = new Bench();
    await bench.behind();
    await bench.accept();
    expect(bench.meta(META_HEAD_ACCEPTED)).toBe('');
  });
});

describe('a copy', () => {
  it('is held as what it is, whatever the note says', async () => {
    const bench = new Bench();
    const mark = markOfCopy(await bench.custody.head(), '2031-01-01T00:00:00.000Z');
    bench.installation.store.seed('meta', { name: META_HOLD, value: JSON.stringify(mark) });
    bench.custody.comparison = { finding: null, complete: true };
    expect(await bench.hold.begin()).toMatchObject({
      reason: 'restored',
      backupAt: '2031-01-01T00:00:00.000Z',
      complete: true,
    });
    expect(bench.types()).toEqual(['ledger.restore_detected']);
  });
});
