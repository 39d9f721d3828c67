import { beforeEach, describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../test/builders/manual-clock.js';
import { MemoryStore } from '../../test/builders/memory-store.js';
import type { RewrapProgress } from '../storage/custody.js';
import type { KeyRing } from '../storage/key-ring.js';
import { UnitDraft } from '../storage/units/unit-draft.js';
import { IdSource } from '../system/id-source.js';
import { Logger } from '../system/logger.js';
import { SystemRandom } from '../system/random-source.js';
import { Readiness } from '../system/readiness.js';
import { KeyRotation } from './key-rotation.js';

const OTTO = { sub: 'otto' };

class SilentLog extends Logger {
  readonly errors: string[] = [];
  override error(message: string): void {
    this.errors.push(message);
  }
  override warn(): void {}
  override info(): void {}
  override debug(): void {}
}

/** A custody of so many keys under an old key-encryption key, which may fail at one of its steps. */
class OldKeys {
  readonly steps: string[] = [];
  isReleased = false;
  failAt: number | null = null;
  constructor(
    public left: number,
    private readonly ids: readonly string[] = ['kek_new', 'kek_old'],
  ) {}

  get keyRing(): KeyRing {
    const wrap = (key: Uint8Array): Uint8Array => key;
    return { currentId: 'kek_new', ids: this.ids, wrap, unwrap: (_, wrapped) => wrapped };
  }

  async rewrap(after: string, limit: number): Promise<RewrapProgress> {
    this.steps.push(after);
    if (this.steps.length === this.failAt) throw new Error('does not unwrap');
    const moved = Math.min(limit, this.left);
    this.left -= moved;
    const outstanding = this.isReleased ? [] : ['kek_old'];
    return { moved, next: this.left === 0 ? null : `key_${this.left}`, outstanding };
  }

  async releaseOtherKeys(): Promise<void> {
    if (this.left > 0) throw new Error('something is left');
    this.isReleased = true;
  }
}

let store: MemoryStore;
let log: SilentLog;
const clock = new ManualClock('2031-01-01T00:00:00.000Z');

beforeEach(() => {
  store = new MemoryStore(clock);
  log = new SilentLog();
});

function rotationOf(custody: OldKeys): KeyRotation {
  const ids = new IdSource(clock, new SystemRandom());
  const desk = {
    read: store.read,
    custody,
    now: () => new Date(clock.now()).toISOString(),
    begin: (context: ConstructorParameters<typeof UnitDraft>[1]) => new UnitDraft(ids, context),
    commit: (draft: UnitDraft) => store.commit(draft.build()),
  };
  return new KeyRotation(desk, log);
}

describe('a rotation of the key-encryption key', () => {
  it('goes in bounded steps, is on record, and only then lets the old key go', async () => {
    const custody = new OldKeys(450);
    let releasedAtCommit = true;
    store.beforeCommit = () => {
      releasedAtCommit = custody.isReleased;
    };
    const rotated = await rotationOf(custody).run(OTTO);
    expect(rotated).toEqual({ kekId: 'kek_new', keysRewrapped: 450, previousKekIds: ['kek_old'] });
    expect(custody.steps).toEqual(['', 'key_250', 'key_50']);
    expect(releasedAtCommit).toBe(false);
    expect(custody.isReleased).toBe(true);
    expect(store.events).toMatchObject([
      { envelope: { eventType: 'ledger.key_rotated', actor: OTTO }, payload: rotated },
    ]);
  });

  it('that fails between two steps keeps the old key, and goes on when it is asked again', async () => {
    const custody = new OldKeys(450);
    custody.failAt = 2;
    const rotation = rotationOf(custody);
    await expect(rotation.run(OTTO)).rejects.toThrow('does not unwrap');
    expect([custody.isReleased, store.events.length]).toEqual([false, 0]);
    expect(await rotation.run(OTTO)).toMatchObject({ keysRewrapped: 250 });
    expect(custody.isReleased).toBe(true);
  });

  it('whose record cannot be written keeps the old key', async () => {
    const custody = new OldKeys(1);
    store.beforeCommit = () => {
      throw new Error('no disk');
    };
    await expect(rotationOf(custody).run(OTTO)).rejects.toThrow('no disk');
    expect(custody.isReleased).toBe(false);
  });

  it('runs once for everybody who asks meanwhile', async () => {
    const custody = new OldKeys(1);
    const rotation = rotationOf(custody);
    await Promise.all([rotation.run(OTTO), rotation.run(OTTO)]);
    expect(custody.steps).toEqual(['']);
  });

  it('leaves no record where nothing lies under another key', async () => {
    const custody = new OldKeys(0);
    custody.isReleased = true;
    await rotationOf(custody).run(OTTO);
    expect(store.events).toEqual([]);
  });

  it('ends after the step under way when the process stops, without a complaint', async () => {
    const custody = new OldKeys(450);
    const rotation = rotationOf(custody);
    rotation.start();
    await rotation.onModuleDestroy();
    expect(custody.steps.length).toBeLessThan(3);
    expect([custody.isReleased, log.errors]).toEqual([false, []]);
  });

  it('says in readiness whether earlier keys are still needed, and nothing where there are none', async () => {
    const readiness = new Readiness();
    const custody = new OldKeys(1);
    const rotation = rotationOf(custody);
    rotation.watchedBy(readiness);
    rotationOf(new OldKeys(0, ['kek_new'])).watchedBy(readiness);
    expect(readiness.reasons()).toMatchObject([
      { weight: 'information', detail: expect.stringContaining('still needed') },
    ]);
    custody.failAt = 1;
    await expect(rotation.run(OTTO)).rejects.toThrow();
    expect(readiness.reasons()).toMatchObject([{ weight: 'degraded' }]);
    custody.failAt = null;
    await rotation.run(OTTO);
    expect(readiness.reasons()).toMatchObject([
      { weight: 'information', detail: expect.stringContaining('taken out') },
    ]);
  });
});
