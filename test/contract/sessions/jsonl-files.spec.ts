import { chdir, cwd } from 'node:process';
import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { SessionRow } from '../../../src/domain/session/session-row.js';
import { JsonlBackend, type JsonlOptions } from '../../../src/sessions/backends/jsonl/jsonl-backend.js';
import { logPath } from '../../../src/sessions/backends/jsonl/log-path.js';
import { CODECS, FRAMED_CODECS, lacksZstd } from '../../builders/log-codecs.js';
import { mixedRows, noticeRow, sessionHeader, sessionKey } from '../../builders/session-rows.js';
import { newSessionsDir } from './log-backends.js';
import { RecordingFiles, Stopped } from './recording-files.js';

const KEY = sessionKey('s-1');
const HEADER = sessionHeader(KEY);
const FIRST = { materialized: false, barrier: false };
const NEXT = { materialized: true, barrier: false };

describe('The files of session logs', () => {
  let root: string;
  let files: RecordingFiles;
  const opened: JsonlBackend[] = [];

  const open = async (more: Partial<JsonlOptions> = {}): Promise<JsonlBackend> => {
    const backend = await JsonlBackend.open({ root, codec: 'none', instanceEpoch: 1, tookOver: false, ...more }, files);
    opened.push(backend);
    files.calls.length = 0;
    return backend;
  };
  const append = (backend: JsonlBackend, rows: readonly SessionRow[], options = NEXT) =>
    backend.appendBatch(KEY, HEADER, rows, options);
  const seqsIn = async (backend: JsonlBackend) => (await backend.loadStored(KEY))?.rows.map(({ seq }) => seq);
  const path = () => logPath(root, KEY).file;

  beforeEach(() => {
    root = join(newSessionsDir(), 'sessions');
    files = new RecordingFiles();
  });

  afterEach(async () => {
    files.onCall = () => undefined;
    for (const backend of opened.splice(0)) await backend.close();
    rmSync(dirname(root), { recursive: true, force: true });
  });

  it('are written, synced and named durably before an append answers [D-75]', async () => {
    const backend = await open();
    await append(backend, mixedRows(0, 3), FIRST);
    expect(files.calls).toEqual([
      'open:read s-1.jsonl',
      'mkdir acme',
      'open:new s-1.jsonl',
      'open:read .owner',
      'write s-1.jsonl',
      'write s-1.jsonl',
      'sync s-1.jsonl',
      'syncdir acme',
      'syncdir sessions',
      'open:read .owner',
    ]);
    files.calls.length = 0;
    await append(backend, [noticeRow(3)]);
    expect(files.calls).toEqual(['write s-1.jsonl', 'sync s-1.jsonl', 'open:read .owner']);
  });

  it('leave an append unanswered until the disk has it [D-19]', async () => {
    const backend = await open();
    await append(backend, [noticeRow(0)], FIRST);
    let isAnswered = false;
    files.onCall = (call) => {
      if (call.startsWith('sync')) expect(isAnswered).toBe(false);
    };
    await append(backend, [noticeRow(1)]).then(() => (isAnswered = true));
    expect(files.calls.filter((call) => call === 'sync s-1.jsonl').length).toBe(2);
  });

  it('are private, one per session, and only grow [D-35]', async () => {
    const backend = await open();
    await append(backend, mixedRows(0, 3), FIRST);
    const other = sessionKey('s-2');
    await backend.appendBatch(other, sessionHeader(other), [noticeRow(0)], FIRST);
    expect(readdirSync(dirname(path())).sort()).toEqual(['s-1.jsonl', 's-2.jsonl']);
    expect([statSync(path()).mode & 0o777, statSync(dirname(path())).mode & 0o777]).toEqual([0o600, 0o700]);
    const before = readFileSync(path());
    await append(backend, [noticeRow(3)]);
    expect(readFileSync(path()).subarray(0, before.length)).toEqual(before);
  });

  it('lie below the root as it was when the backend was opened [D-38]', async () => {
    const home = cwd();
    const parent = dirname(root);
    mkdirSync(root, { recursive: true });
    chdir(parent);
    try {
      const backend = await open({ root: 'sessions' });
      chdir(tmpdir());
      await append(backend, [noticeRow(0)], FIRST);
    } finally {
      chdir(home);
    }
    expect(readdirSync(join(root, 'acme'))).toEqual(['s-1.jsonl']);
  });

  it('are cut back to what was confirmed after a write that stopped half way [D-31, K07]', async () => {
    const backend = await open();
    await append(backend, [noticeRow(0)], FIRST);
    const before = readFileSync(path());
    files.onCall = (call) => {
      if (call.startsWith('write')) throw new Stopped(900, 'ENOSPC');
    };
    const long = noticeRow(1, { payload: { text: 'x'.repeat(2000) } });
    await expect(append(backend, [long])).rejects.toMatchObject({ code: 'ENOSPC' });
    expect(readFileSync(path()).length).toBe(before.length + 900);
    expect(await seqsIn(backend)).toEqual([0]);
    files.onCall = () => undefined;
    await append(backend, [noticeRow(1, { payload: { after: 'the space came back' } })]);
    const stored = await backend.loadStored(KEY);
    expect(stored).not.toHaveProperty('torn');
    expect(stored?.rows.map(({ seq }) => seq)).toEqual([0, 1]);
  });

  it('are written anew after a sync that failed, for nobody knows what the disk holds [D-30]', async () => {
    const backend = await open();
    await append(backend, [noticeRow(0)], FIRST);
    const identity = statSync(path()).ino;
    files.onCall = (call) => {
      if (call === 'sync s-1.jsonl') throw new Stopped(0, 'EIO');
    };
    await expect(append(backend, [noticeRow(1)])).rejects.toMatchObject({ code: 'EIO' });
    files.onCall = () => undefined;
    files.calls.length = 0;
    await append(backend, [noticeRow(1), noticeRow(2)]);
    expect(files.calls.slice(0, 5)).toEqual([
      'open:draft s-1.jsonl.new',
      'write s-1.jsonl.new',
      'sync s-1.jsonl.new',
      'open:read .owner',
      'rename s-1.jsonl.new s-1.jsonl',
    ]);
    expect(statSync(path()).ino).not.toBe(identity);
    expect(await seqsIn(backend)).toEqual([0, 1, 2]);
  });

  it('are never appended to behind a torn line [K01]', async () => {
    const first = await open();
    await append(first, [noticeRow(0)], FIRST);
    await first.close();
    writeFileSync(path(), Buffer.concat([readFileSync(path()), Buffer.from('{"k":"e","seq":1,"event')]));
    const backend = await open({ instanceEpoch: 2 });
    await append(backend, [noticeRow(1)]);
    const stored = await backend.loadStored(KEY);
    expect(stored?.rows).toEqual([noticeRow(0), noticeRow(1)]);
    expect(stored).not.toHaveProperty('torn');
  });

  it.each(CODECS)('come through a crash at every call of a repair (%s) [D-59, D-62]', async (codec) => {
    const rows = [noticeRow(0), noticeRow(1), noticeRow(2)];
    const closers = [noticeRow(3, { synthetic: true })];
    for (let stopAt = 0; ; stopAt += 1) {
      const writer = await open({ codec, instanceEpoch: stopAt * 3 + 1 });
      await writer.delete(KEY);
      await append(writer, rows.slice(0, 2), { materialized: false, barrier: true });
      await append(writer, rows.slice(2));
      await writer.close();
      const whole = readFileSync(path());
      writeFileSync(path(), whole.subarray(0, whole.length - 1));
      const repairing = await open({ codec, instanceEpoch: stopAt * 3 + 2 });
      const torn = (await repairing.loadStored(KEY))?.torn;
      let calls = 0;
      files.onCall = () => {
        if (calls === stopAt) throw new Stopped(5, 'CRASH');
        calls += 1;
      };
      const isDone = await repairing.commitRepair(KEY, torn, closers).then(
        () => true,
        () => false,
      );
      files.onCall = () => undefined;
      await repairing.close();
      const after = await open({ codec, instanceEpoch: stopAt * 3 + 3 });
      const found = await after.loadStored(KEY);
      // The row that was whole but for its end is never lost, whenever the repair is stopped.
      expect(found?.rows.slice(0, 3)).toEqual(rows);
      await after.commitRepair(KEY, found?.torn, closers);
      expect((await after.loadStored(KEY))?.rows).toEqual([...rows, ...closers]);
      if (isDone) {
        expect(stopAt).toBeGreaterThan(5);
        return;
      }
    }
  });

  it('that cannot be read are refused and left as they are [K09, M05]', async () => {
    const backend = await open();
    mkdirSync(dirname(path()), { recursive: true });
    const noise = Buffer.from(Array.from({ length: 1024 }, (_, at) => (at * 197 + 11) % 256));
    writeFileSync(path(), noise);
    const corrupt = { code: 'session_log_corrupt' };
    await expect(backend.loadStored(KEY)).rejects.toMatchObject(corrupt);
    await expect(append(backend, [noticeRow(0)], FIRST)).rejects.toMatchObject(corrupt);
    await expect(append(backend, [noticeRow(0)])).rejects.toMatchObject(corrupt);
    expect(readFileSync(path())).toEqual(noise);
    expect(await backend.list('acme')).toEqual(['s-1']);
    files.onCall = (call) => {
      if (call === 'open:read s-1.jsonl') throw Object.assign(new Error('refused'), { code: 'EACCES' });
    };
    await expect(backend.loadStored(KEY)).rejects.toMatchObject(corrupt);
    await expect(append(backend, [noticeRow(0)], FIRST)).rejects.toMatchObject(corrupt);
    expect(readFileSync(path())).toEqual(noise);
    writeFileSync(path(), '{"k":"h","v":999,"formatVersion":999}\n');
    files.onCall = () => undefined;
    await expect(append(backend, [noticeRow(0)], FIRST)).rejects.toMatchObject({ code: 'session_format_unsupported' });
    expect(readFileSync(path(), 'utf8')).toBe('{"k":"h","v":999,"formatVersion":999}\n');
  });

  it('that end inside their header were no log, and are made anew', async () => {
    const backend = await open();
    mkdirSync(dirname(path()), { recursive: true });
    writeFileSync(path(), '{"k":"h","formatVer');
    expect(await backend.loadStored(KEY)).toBeNull();
    expect(await backend.list('acme')).toEqual([]);
    await expect(append(backend, [noticeRow(0)])).rejects.toThrow('the log of the session is gone');
    await append(backend, [noticeRow(0)], FIRST);
    expect(await seqsIn(backend)).toEqual([0]);
  });

  it('that another has written to are not written to, and read again instead [D-22]', async () => {
    const backend = await open();
    await append(backend, [noticeRow(0)], FIRST);
    const foreign = await open();
    await append(foreign, [noticeRow(1)]);
    await expect(append(backend, [noticeRow(1)])).rejects.toMatchObject({ code: 'session_owned_elsewhere' });
    await append(backend, [noticeRow(1), noticeRow(2)]);
    expect(await seqsIn(backend)).toEqual([0, 1, 2]);
  });

  it('belong to the process with the highest epoch from its start on', async () => {
    const old = await open({ instanceEpoch: 5 });
    await append(old, [noticeRow(0)], FIRST);
    const elsewhere = { code: 'session_owned_elsewhere' };
    await open({ instanceEpoch: 6, tookOver: true });
    await expect(append(old, [noticeRow(1)])).rejects.toMatchObject(elsewhere);
    const other = sessionKey('s-2');
    await expect(old.appendBatch(other, sessionHeader(other), [noticeRow(0)], FIRST)).rejects.toMatchObject(elsewhere);
    await expect(old.delete(KEY)).rejects.toMatchObject(elsewhere);
    await expect(open({ instanceEpoch: 5 })).rejects.toMatchObject(elsewhere);
  });

  it('are left to a process that was taken over: what it still writes goes nowhere', async () => {
    const old = await open({ instanceEpoch: 5 });
    await append(old, [noticeRow(0)], FIRST);
    const taker = await open({ instanceEpoch: 6, tookOver: true });
    const loaded = await taker.loadStored(KEY);
    await expect(append(old, [noticeRow(1, { payload: { late: true } })])).rejects.toMatchObject({
      code: 'session_owned_elsewhere',
    });
    expect(await taker.readStoredRevision(KEY)).toBe(loaded?.revision);
    await append(taker, [noticeRow(1)]);
    expect((await taker.loadStored(KEY))?.rows).toEqual([noticeRow(0), noticeRow(1)]);
  });

  it('written by an earlier process are synced once more behind their last promise', async () => {
    const first = await open();
    await append(first, [noticeRow(0)], { materialized: false, barrier: true });
    await append(first, [noticeRow(1)]);
    await first.close();
    const next = await open({ instanceEpoch: 2 });
    await next.loadStored(KEY);
    files.onCall = (call) => {
      if (call === 'sync s-1.jsonl') throw new Stopped(0, 'EIO');
    };
    await expect(append(next, [noticeRow(2)])).rejects.toMatchObject({ code: 'EIO' });
    files.onCall = () => undefined;
    files.calls.length = 0;
    await append(next, [noticeRow(2)]);
    expect(files.calls.filter((call) => /^(write|sync) s-1/.test(call))).toEqual([
      'write s-1.jsonl',
      'sync s-1.jsonl',
      'write s-1.jsonl',
      'sync s-1.jsonl',
    ]);
    expect(await seqsIn(next)).toEqual([0, 1, 2]);
  });

  it('are kept open a few at a time, and one that was closed goes on where it ended', async () => {
    const backend = await open({ openMax: 2 });
    const keys = ['a', 'b', 'c', 'd'].map((id) => sessionKey(id));
    for (const seq of [0, 1, 2]) {
      for (const key of keys) {
        await backend.appendBatch(key, sessionHeader(key), [noticeRow(seq)], seq === 0 ? FIRST : NEXT);
      }
    }
    expect(files.calls.filter((call) => call.startsWith('open:write')).length).toBe(8);
    for (const key of keys) expect((await backend.loadStored(key))?.rows.length).toBe(3);
  });

  (lacksZstd ? it : it.skip)('refuse a codec that the runtime has not [U-40]', async () => {
    await expect(open({ codec: 'zstd' })).rejects.toMatchObject({ code: 'invalid_settings' });
  });

  it.each(FRAMED_CODECS)('keep the codec they were made with (%s)', async (codec) => {
    const first = await open({ codec });
    await append(first, mixedRows(0, 5), FIRST);
    await first.close();
    const next = await open({ codec: 'none', instanceEpoch: 2 });
    await append(next, mixedRows(5, 5));
    expect((await next.loadStored(KEY))?.rows).toEqual([...mixedRows(0, 5), ...mixedRows(5, 5)]);
    expect(await next.readRaw(KEY)).toContain(`{"k":"h","formatVersion":1,"codec":"${codec}",`);
    expect(await next.list(KEY.tenant)).toEqual([KEY.sessionId]);
  });
});
