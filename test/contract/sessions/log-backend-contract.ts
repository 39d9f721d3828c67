import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { SessionRow } from '../../../src/domain/session/session-row.js';
import type { PersistenceBackend } from '../../../src/sessions/backends/persistence-backend.js';
import {
  deltaRow,
  eventIdOf,
  groupRows,
  mixedRows,
  noticeRow,
  sessionHeader,
  sessionKey,
} from '../../builders/session-rows.js';
import type { LogBackendUnderTest, OpenLogBackend } from './log-backends.js';

const KEY = sessionKey('s-1');
const HEADER = sessionHeader(KEY, { parent: { sessionId: 'p-1', runId: 'run-0', subagentId: 'sub-1' } });
const FIRST = { materialized: false, barrier: false };
const NEXT = { materialized: true, barrier: false };
const PROMISED = { materialized: true, barrier: true };

/** What every medium of session logs must do. */
export function describeLogBackend(name: string, open: OpenLogBackend): void {
  describe(`${name} keeps logs of sessions`, () => {
    const under = underTest(open);
    const append = (rows: readonly SessionRow[], options = NEXT) => {
      return under().backend.appendBatch(KEY, HEADER, rows, options);
    };
    const rowsOf = async (backend: PersistenceBackend = under().backend) => (await backend.loadStored(KEY))?.rows;

    it('has nothing of a session before its first append, and header, rows and revision after it [D-39, D-54]', async () => {
      expect(await under().backend.loadStored(KEY)).toBeNull();
      expect(await under().backend.readStoredRevision(KEY)).toBeNull();
      await append([], FIRST);
      expect(await under().backend.list('acme')).toEqual([]);
      const rows = mixedRows(0, 25);
      const { revision } = await append(rows, FIRST);
      expect(await under().backend.loadStored(KEY)).toEqual({ header: HEADER, rows, revision, barrierSeq: -1 });
      expect(await under().backend.readStoredRevision(KEY)).toBe(revision);
    });

    it('goes on where the log ends and nowhere else, and says a conflict without a change [D-19]', async () => {
      await append(mixedRows(0, 5), FIRST);
      const before = await under().backend.readStoredRevision(KEY);
      const refused = { code: 'seq_conflict' };
      await expect(append([noticeRow(6)])).rejects.toMatchObject(refused);
      await expect(append([noticeRow(4, { eventId: eventIdOf(4, 1) })])).rejects.toMatchObject(refused);
      await expect(append([noticeRow(5), noticeRow(7)])).rejects.toMatchObject(refused);
      expect(await under().backend.readStoredRevision(KEY)).toBe(before);
      await append([noticeRow(5)]);
      expect(await rowsOf()).toEqual([...mixedRows(0, 5), noticeRow(5)]);
    });

    it('changes the revision with every append, promise and repair, and with nothing else [D-22]', async () => {
      const revisions = [(await append([noticeRow(0)], FIRST)).revision];
      revisions.push((await append([noticeRow(1)])).revision);
      revisions.push((await append([], PROMISED)).revision);
      expect((await append([], PROMISED)).revision).toBe(revisions.at(-1));
      revisions.push((await under().backend.commitRepair(KEY, undefined, [noticeRow(2)])).revision);
      expect(new Set(revisions).size).toBe(4);
      await under().backend.loadStored(KEY);
      expect(await under().backend.readStoredRevision(KEY)).toBe(revisions.at(-1));
    });

    it('takes 200 appends of one moment one after the other in order [L03]', async () => {
      for (let seq = 0; seq < 200; seq += 1) await append([noticeRow(seq)], seq === 0 ? FIRST : NEXT);
      expect((await rowsOf())?.map(({ seq }) => seq)).toEqual(Array.from({ length: 200 }, (_, seq) => seq));
    });

    it('keeps what was promised apart from what was only written [U-08]', async () => {
      await append(mixedRows(0, 5), { materialized: false, barrier: true });
      await append([noticeRow(5)]);
      expect((await under().backend.loadStored(KEY))?.barrierSeq).toBe(4);
      await append([], PROMISED);
      expect((await under().backend.loadStored(KEY))?.barrierSeq).toBe(5);
    });

    it('gives the same suffix for every n and every limit [D-73]', async () => {
      const rows = mixedRows(0, 40);
      await append(rows, FIRST);
      for (let from = 0; from <= 41; from += 1) {
        for (const limit of [1, 7, 100]) {
          const suffix = await under().backend.loadStoredFrom(KEY, from, limit);
          expect(suffix.rows).toEqual(rows.slice(from, from + limit));
        }
      }
      const missing = under().backend.loadStoredFrom(sessionKey('s-2'), 0, 1);
      await expect(missing).rejects.toMatchObject({ code: 'session_not_found' });
    });

    it('gives back the text of every unit as it came, line separators and NUL among them [K05, N05]', async () => {
      const text = 'a\u0000b\u2028c\u2029d\u0085e"\\\n\r\u{1f600}\ufeff';
      const rows = [
        noticeRow(0, { payload: { messageId: text, text, about: text } }),
        deltaRow(1, { payload: { messageId: text, index: 0, text } }),
        deltaRow(2, { payload: { messageId: text, index: 1, text: `${text}${text}` } }),
      ];
      await append(rows, FIRST);
      await append([noticeRow(3)]);
      under.now = await under().reopen();
      expect(await rowsOf()).toEqual([...rows, noticeRow(3)]);
      await append([noticeRow(4)]);
      expect((await rowsOf())?.length).toBe(5);
    });

    it('packs deltas without losing a number, an id or a time [D-36, U-34]', async () => {
      const apart = { occurredAt: '2026-01-02T03:04:05.678+02:00', recordedAt: '2026-01-02T01:04:06.000Z' };
      const rows = Array.from({ length: 100 }, (_, seq) => deltaRow(seq, seq % 3 === 0 ? {} : apart));
      await append(rows, FIRST);
      expect(await rowsOf()).toEqual(rows);
    });

    it('takes whole groups only [P-36, U-42]', async () => {
      const [first, second, third] = groupRows(0, 3);
      const split = [first, second].filter((row) => row !== undefined);
      await expect(append(split, FIRST)).rejects.toThrow('a batch holds whole groups');
      expect(await under().backend.loadStored(KEY)).toBeNull();
      await append([...split, ...(third === undefined ? [] : [third])], FIRST);
      expect(await rowsOf()).toEqual(groupRows(0, 3));
    });

    it('keeps rows of a kind of event it does not know, as they are [M01]', async () => {
      const note = noticeRow(0, { eventType: 'plugin.note', ignorable: true, payload: { x: [1, { y: null }] } });
      await append([note], FIRST);
      expect(await rowsOf()).toEqual([note]);
    });

    it('reports an unfinished end, cuts it once, and repairing again is harmless [D-58, D-59, K01]', async () => {
      await append(mixedRows(0, 4).slice(0, 3), { materialized: false, barrier: true });
      await append([noticeRow(3)]);
      await append([noticeRow(4)]);
      await under().tearLast(KEY);
      under.now = await under().reopen();
      const { backend } = under();
      const torn = await backend.loadStored(KEY);
      expect(torn?.rows.map(({ seq }) => seq)).toEqual([0, 1, 2, 3]);
      expect(torn?.torn).toBeDefined();
      const closers = [noticeRow(4, { eventId: eventIdOf(4, 9), synthetic: true })];
      const { revision } = await backend.commitRepair(KEY, torn?.torn, closers);
      const repaired = await backend.loadStored(KEY);
      expect(repaired).toMatchObject({ revision, barrierSeq: 4 });
      expect(repaired).not.toHaveProperty('torn');
      await backend.commitRepair(KEY, torn?.torn, closers);
      expect((await backend.loadStored(KEY))?.rows).toEqual([...(torn?.rows ?? []), ...closers]);
      await append([noticeRow(5)]);
      expect((await rowsOf())?.length).toBe(6);
    });

    it('refuses the name of another session and touches nothing of it [A-60, O05, D-55]', async () => {
      const other = sessionKey('s_1');
      const alike = sessionKey('s:1');
      await under().backend.appendBatch(other, sessionHeader(other), [noticeRow(0)], FIRST);
      const appended = under().backend.appendBatch(alike, sessionHeader(alike), [noticeRow(0)], FIRST);
      if (!under().sharesNames) {
        await appended;
        expect(await under().backend.list('acme')).toEqual(['s:1', 's_1']);
        return;
      }
      await expect(appended).rejects.toMatchObject({ code: 'session_id_collision' });
      const mismatch = { code: 'session_identity_mismatch' };
      await expect(under().backend.loadStored(alike)).rejects.toMatchObject(mismatch);
      await expect(under().backend.delete(alike)).rejects.toMatchObject(mismatch);
      expect((await under().backend.loadStored(other))?.rows).toEqual([noticeRow(0)]);
    });

    it.each(
      ['', '..', '.', '../x', '..\\x', '/etc/x', 'a/../../b', 'x'.repeat(300), '\u{1f600}'.repeat(200)].map((id) => ({
        id,
      })),
    )('refuses the id $id before anything is touched [A-59, O01, O03]', async ({ id }) => {
      const key = sessionKey(id);
      const refused = { code: 'invalid_session_id' };
      await expect(under().backend.loadStored(key)).rejects.toMatchObject(refused);
      const append = under().backend.appendBatch(key, sessionHeader(key), [noticeRow(0)], FIRST);
      await expect(append).rejects.toMatchObject(refused);
      expect(await under().backend.list('acme')).toEqual([]);
    });

    it('lists the ids of one tenant in order and forgets what is deleted', async () => {
      for (const id of ['b', 'a', 'c']) {
        await under().backend.appendBatch(sessionKey(id), sessionHeader(sessionKey(id)), [noticeRow(0)], FIRST);
      }
      const other = sessionKey('z', 'Other Tenant');
      await under().backend.appendBatch(other, sessionHeader(other), [noticeRow(0)], FIRST);
      expect(await under().backend.list('acme')).toEqual(['a', 'b', 'c']);
      expect(await under().backend.list('Other Tenant')).toEqual(['z']);
      const before = await under().backend.readStoredRevision(sessionKey('b'));
      await under().backend.delete(sessionKey('b'));
      await under().backend.delete(sessionKey('b'));
      expect(await under().backend.list('acme')).toEqual(['a', 'c']);
      expect(await under().backend.loadStored(sessionKey('b'))).toBeNull();
      const again = [noticeRow(0, { eventId: eventIdOf(0, 1) })];
      await under().backend.appendBatch(sessionKey('b'), sessionHeader(sessionKey('b')), again, FIRST);
      expect(await under().backend.readStoredRevision(sessionKey('b'))).not.toBe(before);
    });

    it.each(['before', 'after'] as const)(
      'writes a batch once whose append has failed %s it was stored [D-30, D-31]',
      async (when) => {
        await append(mixedRows(0, 5), FIRST);
        under().failNextAppend(when);
        await expect(append([noticeRow(5), noticeRow(6)])).rejects.toThrow();
        await append([noticeRow(5), noticeRow(6), noticeRow(7)], PROMISED);
        const stored = await under().backend.loadStored(KEY);
        expect(stored?.rows).toEqual([...mixedRows(0, 5), noticeRow(5), noticeRow(6), noticeRow(7)]);
        expect(stored).not.toHaveProperty('torn');
        expect(stored?.barrierSeq).toBe(7);
      },
    );

    it('writes a first batch once whose append has failed', async () => {
      for (const when of ['before', 'after'] as const) {
        under().failNextAppend(when);
        await expect(append([noticeRow(0)], FIRST)).rejects.toThrow();
      }
      await append([noticeRow(0), noticeRow(1)], FIRST);
      expect(await rowsOf()).toEqual([noticeRow(0), noticeRow(1)]);
    });

    it('gives text exactly where it says so [D-72, D-74]', async () => {
      const { backend } = under();
      expect(backend.readRaw !== undefined).toBe(backend.capabilities.rawArtifact);
      if (backend.readRaw === undefined) return;
      await append(mixedRows(0, 5), { materialized: false, barrier: true });
      const lines = (await backend.readRaw(KEY)).split('\n').filter((line) => line !== '');
      expect(lines.map((line) => (JSON.parse(line) as { k: string }).k)).toEqual(['h', 'e', 'e', 'm', 'e', 'e', 'b']);
    });

    it('refuses everything once it is closed', async () => {
      await under().backend.close();
      await expect(under().backend.loadStored(KEY)).rejects.toMatchObject({ code: 'persistence_closed' });
      await expect(append([noticeRow(0)], FIRST)).rejects.toMatchObject({ code: 'persistence_closed' });
    });

    it('lets calls about two sessions overlap and keeps both whole [D-32]', async () => {
      const keys = Array.from({ length: 20 }, (_, index) => sessionKey(`many-${index}`));
      await Promise.all(
        keys.map(async (key) => {
          await under().backend.appendBatch(key, sessionHeader(key), mixedRows(0, 10), FIRST);
          await under().backend.appendBatch(key, sessionHeader(key), mixedRows(10, 10), PROMISED);
        }),
      );
      for (const key of keys) {
        expect((await under().backend.loadStored(key))?.rows).toEqual([...mixedRows(0, 10), ...mixedRows(10, 10)]);
      }
    });
  });
}

/** The backend of the running test; discarded after it. */
function underTest(open: OpenLogBackend): { (): LogBackendUnderTest; now: LogBackendUnderTest | null } {
  const opened: LogBackendUnderTest[] = [];
  const current = Object.assign(
    (): LogBackendUnderTest => {
      if (current.now === null) throw new Error('no backend is open');
      if (!opened.includes(current.now)) opened.push(current.now);
      return current.now;
    },
    { now: null as LogBackendUnderTest | null },
  );
  beforeEach(async () => {
    current.now = await open();
  });
  afterEach(async () => {
    current();
    for (const each of opened.splice(0).reverse()) await each.discard();
  });
  return current;
}
