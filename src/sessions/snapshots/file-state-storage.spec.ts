import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fileOf, fullSnapshot, KEY, savedAs } from '../../../test/builders/session-snapshots.js';
import { MemoryFiles, Stopped } from '../../../test/support/memory-files.js';
import type { CountersignError } from '../../domain/errors/countersign-error.js';
import { NO_SECRETS } from '../../domain/session/codec/plain-json.js';
import { decodeSnapshot } from '../../domain/session/codec/snapshot-codec.js';
import { FileStateStorage } from './file-state-storage.js';

const MAIN = '/root/acme/ses-1.json';
const BAK = `${MAIN}.bak`;
const TMP = `${MAIN}.tmp`;
const ENDED = `${MAIN}.ended`;

const on = (files: MemoryFiles): FileStateStorage => new FileStateStorage('/root', NO_SECRETS, files);

async function problemOf(work: Promise<unknown>): Promise<CountersignError> {
  try {
    await work;
  } catch (error) {
    return error as CountersignError;
  }
  throw new Error('nothing was refused');
}

async function loadedFrom(files: MemoryFiles): Promise<{ n: unknown; loadSource: string; isRunning: boolean }> {
  const { snapshot, loadSource } = await on(files.restarted()).load(KEY);
  return { n: snapshot.agentState.metadata['n'], loadSource, isRunning: snapshot.agentState.isRunning };
}

/** The files after so many saves. */
async function savedTimes(times: number): Promise<MemoryFiles> {
  const files = new MemoryFiles();
  const storage = on(files);
  for (let n = 1; n <= times; n += 1) await storage.save(savedAs(n));
  return files;
}

describe('a save', () => {
  it('writes beside main, makes that durable, and then gives it the name of main [A-32, A-33, A-35]', async () => {
    const files = await savedTimes(2);
    files.calls.length = 0;
    await on(files).save(savedAs(3));
    expect(files.calls.filter((call) => !/^(?:read|exists) /u.test(call))).toEqual([
      'mkdir acme',
      'write ses-1.json.tmp',
      'sync ses-1.json.tmp',
      'remove ses-1.json.bak',
      'rename ses-1.json',
      'rename ses-1.json.tmp',
      'syncDirectory acme',
      'remove ses-1.json.ended',
    ]);
    expect([...files.content.keys()].toSorted()).toEqual([MAIN, BAK]);
  });

  it('does not read what it has written itself', async () => {
    const files = new MemoryFiles();
    const storage = on(files);
    await storage.save(savedAs(1));
    files.calls.length = 0;
    await storage.save(savedAs(2));
    expect(files.calls.filter((call) => call.startsWith('read'))).toEqual([]);
  });

  it('touches nothing when the state is refused, or the id [A-10, A-32, A-59]', async () => {
    const files = new MemoryFiles();
    const storage = new FileStateStorage('/root', (text) => text === 'canary', files);
    const { agentState } = fullSnapshot();
    const client = { ...agentState, metadata: { client: new AbortController() as never } };
    const secret = { ...agentState, plan: ['a', 'canary'] };
    expect(await problemOf(storage.save(fullSnapshot(KEY, { agentState: client })))).toMatchObject({
      code: 'state_not_serializable',
      details: { pointer: '/agentState/metadata/client' },
    });
    const error = await problemOf(storage.save(fullSnapshot(KEY, { agentState: secret })));
    expect(error).toMatchObject({ code: 'secret_in_payload', details: { pointer: '/agentState/plan/1' } });
    expect(error.message).not.toContain('canary');
    expect(await problemOf(storage.save(savedAs(1, { tenant: 'acme', sessionId: '../x' })))).toMatchObject({
      code: 'invalid_session_id',
    });
    expect(files.calls).toEqual([]);
  });

  it.each(['write', 'sync', 'mkdir'])(
    'that fails at %s leaves main and bak as they were, no tmp, and says why [A-37, A-118]',
    async (call) => {
      const files = await savedTimes(2);
      const before = [files.content.get(MAIN), files.content.get(BAK)];
      files.failing.add(call);
      const error = await problemOf(on(files).save(savedAs(3)));
      expect(error).toMatchObject({ code: 'state_save_failed', cause: { message: `told to fail: ${call}` } });
      expect([files.content.get(MAIN), files.content.get(BAK), files.content.get(TMP)]).toEqual([...before, undefined]);
    },
  );

  it('that fails says the same when its clean-up fails as well [A-37]', async () => {
    const files = await savedTimes(1);
    files.failing.add('write').add('remove');
    expect(await problemOf(on(files).save(savedAs(2)))).toMatchObject({ code: 'state_save_failed' });
    expect(await loadedFrom(files)).toMatchObject({ n: 1, loadSource: 'main' });
  });

  it('whose last rename fails may leave no main, and bak is loaded; the next save mends it [A-118]', async () => {
    const files = await savedTimes(1);
    const storage = on(files);
    files.failing.add('rename ses-1.json.tmp');
    await problemOf(storage.save(savedAs(2)));
    expect(files.content.has(MAIN)).toBe(false);
    expect(await loadedFrom(files)).toMatchObject({ n: 1, loadSource: 'bak' });
    files.failing.clear();
    await storage.save(savedAs(3));
    expect(await loadedFrom(files)).toMatchObject({ n: 3, loadSource: 'main' });
    expect(JSON.parse(files.content.get(BAK) ?? '')).toMatchObject({ agentState: { metadata: { n: 1 } } });
  });

  it('does not push a whole bak out by a damaged main, wherever it stops', async () => {
    const seen = new Set<unknown>();
    for (let call = 0; call < 14; call += 1) {
      const files = await savedTimes(2);
      files.content.set(MAIN, (files.content.get(MAIN) ?? '').slice(0, 100));
      files.stopAt = files.calls.length + call;
      await on(files)
        .save(savedAs(3))
        .catch(() => undefined);
      seen.add((await loadedFrom(files)).n);
    }
    expect([...seen]).toEqual([1, 3]);
  });

  it('removes what an earlier one left half written, which is never loaded [A-40, U-32]', async () => {
    for (const leftover of ['{"half', fileOf(savedAs(9))]) {
      const files = await savedTimes(1);
      files.content.set(TMP, leftover);
      expect(await loadedFrom(files)).toMatchObject({ n: 1, loadSource: 'main' });
      await on(files).save(savedAs(2));
      expect(files.content.has(TMP)).toBe(false);
      files.content.set(TMP, leftover);
      files.content.delete(MAIN);
      files.content.delete(BAK);
      expect(await problemOf(on(files).load(KEY))).toMatchObject({ code: 'session_not_found' });
    }
  });

  it('of one session waits for the one before', async () => {
    const files = new MemoryFiles();
    const storage = on(files);
    await Promise.all([1, 2, 3].map((n) => storage.save(savedAs(n))));
    expect(await loadedFrom(files)).toMatchObject({ n: 3 });
    expect(JSON.parse(files.content.get(BAK) ?? '')).toMatchObject({ agentState: { metadata: { n: 2 } } });
  });

  it('over the files of a session with the same name is refused, and so are its mark and its deletion [A-60, U-28]', async () => {
    const files = new MemoryFiles();
    const first = { tenant: 'acme', sessionId: '会话-001' };
    const second = { tenant: 'acme', sessionId: '聊天-001' };
    await on(files).save(savedAs(1, first));
    const before = new Map(files.content);
    for (const storage of [on(files), on(files.restarted())]) {
      expect(await problemOf(storage.save(savedAs(2, second)))).toMatchObject({ code: 'session_id_collision' });
      expect(await problemOf(storage.load(second))).toMatchObject({ code: 'session_identity_mismatch' });
      expect(await problemOf(storage.markNotResumable(second))).toMatchObject({ code: 'session_id_collision' });
      await storage.delete(second);
    }
    expect(new Map(files.content)).toEqual(before);
  });
});

describe('a death during a save', () => {
  /** A save over two earlier ones by a process that knows them, up to the given call. */
  async function diesAt(call: number): Promise<MemoryFiles> {
    const files = new MemoryFiles();
    const storage = on(files);
    await storage.save(savedAs(1));
    await storage.save(savedAs(2));
    files.stopAt = files.calls.length + call;
    const ended = await problemOf(storage.save(savedAs(3))).catch(() => null);
    if (ended !== null) expect(ended.cause).toBeInstanceOf(Stopped);
    return files;
  }

  it.each<[string, number, 'main' | 'bak', number]>([
    ['before anything', 0, 'main', 2],
    ['while tmp is written', 1, 'main', 2],
    ['before tmp is durable', 2, 'main', 2],
    ['before bak is deleted', 4, 'main', 2],
    ['between the deletion of bak and the promotion of main', 5, 'main', 2],
    ['after the promotion, before the last rename', 6, 'bak', 2],
    ['after the last rename', 7, 'main', 3],
    ['before the mark is removed', 8, 'main', 3],
    ['after everything', 9, 'main', 3],
  ])('%s leaves the state that is promised [A-38, A-02]', async (_, call, loadSource, n) => {
    expect(await loadedFrom(await diesAt(call))).toMatchObject({ loadSource, n });
  });

  it('at any call of a thousand saves leaves main whole or absent, and then bak whole [A-39]', async () => {
    let seed = 20_310_101;
    const random = (below: number): number => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      return seed % below;
    };
    let files = new MemoryFiles();
    let promised = 0;
    for (let n = 1; n <= 1_000; n += 1) {
      files = files.restarted();
      files.stopAt = random(14);
      const storage = on(files);
      const isSaved = await storage.save(savedAs(n)).then(
        () => true,
        () => false,
      );
      const main = files.content.get(MAIN);
      const places = [main, files.content.get(BAK)].filter((text) => text !== undefined);
      for (const text of places) expect(decodeSnapshot(text, KEY).ok).toBe(true);
      if (isSaved) promised = n;
      if (promised === 0) continue;
      const { snapshot } = await on(files.restarted()).load(KEY);
      const loaded = Number(snapshot.agentState.metadata['n']);
      expect(loaded === promised || loaded === n).toBe(true);
      promised = loaded;
    }
    expect(promised).toBeGreaterThan(900);
  });

  it('of any length of saves and stops never makes an older state come back', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(12), { minLength: 1, maxLength: 8 }), async (stops) => {
        let files = await savedTimes(1);
        let last = 1;
        for (const [index, stop] of stops.entries()) {
          files = files.restarted();
          files.stopAt = stop;
          await on(files)
            .save(savedAs(index + 2))
            .catch(() => undefined);
          const { n } = await loadedFrom(files);
          expect(Number(n)).toBeGreaterThanOrEqual(last);
          last = Number(n);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('during a deletion leaves the session as it is or nothing of it, never an older state [A-26]', async () => {
    for (let call = 0; call < 8; call += 1) {
      const files = await savedTimes(2);
      files.stopAt = files.calls.length + call;
      await on(files)
        .delete(KEY)
        .catch(() => undefined);
      const loaded = await loadedFrom(files).then(
        ({ n }) => n,
        (error: CountersignError) => error.code,
      );
      expect([2, 'session_not_found']).toContain(loaded);
    }
  });
});

describe('a load', () => {
  it('does not open bak when main is whole or of a newer version [A-41, A-46]', async () => {
    const files = await savedTimes(2);
    for (const main of [files.content.get(MAIN) ?? '', fileOf({ ...savedAs(1), envelopeVersion: 2 })]) {
      files.content.set(MAIN, main);
      files.calls.length = 0;
      await on(files)
        .load(KEY)
        .catch(() => undefined);
      expect(files.calls).not.toContain('read ses-1.json.bak');
      expect(files.calls).toContain('read ses-1.json');
    }
  });

  it('takes a main that cannot be read at all for damaged', async () => {
    const files = await savedTimes(2);
    const restarted = files.restarted();
    restarted.failing.add('read ses-1.json');
    const error = await problemOf(on(restarted).load(KEY));
    expect(error).toMatchObject({
      code: 'state_corrupt',
      details: { problems: ['main: unreadable', 'bak: unreadable'] },
    });
  });

  it('takes a mark that cannot be looked at for one', async () => {
    const files = await savedTimes(1);
    const restarted = files.restarted();
    restarted.failing.add('exists ses-1.json.ended');
    expect(await on(restarted).load(KEY)).toMatchObject({ notResumable: true });
  });
});

describe('the mark', () => {
  it('is one small file; nothing else is touched [A-28, A-31, A-49]', async () => {
    const files = await savedTimes(1);
    const main = files.content.get(MAIN);
    files.failing.add('write ses-1.json.tmp');
    const storage = on(files);
    await problemOf(storage.save(savedAs(2)));
    files.calls.length = 0;
    await storage.markNotResumable(KEY);
    expect(files.calls.filter((call) => call.startsWith('write'))).toEqual(['write ses-1.json.ended']);
    expect(files.content.get(ENDED)).toBe('1');
    expect(files.content.get(MAIN)).toBe(main);
    expect(await loadedFrom(files)).toMatchObject({ n: 1, isRunning: false });
  });

  it('that cannot be written is told as a failed save [A-49]', async () => {
    const files = await savedTimes(1);
    const before = new Map(files.content);
    files.failing.add('write');
    expect(await problemOf(on(files).markNotResumable(KEY))).toMatchObject({ code: 'state_save_failed' });
    expect(new Map(files.content)).toEqual(before);
  });
});
