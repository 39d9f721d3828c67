import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { DatabaseBackend } from '../../src/sessions/backends/database/database-backend.js';
import { JsonlBackend } from '../../src/sessions/backends/jsonl/jsonl-backend.js';
import type { PersistenceBackend } from '../../src/sessions/backends/persistence-backend.js';
import { openSessionDatabase } from '../../src/storage/session-log/open-session-database.js';
import { FRAMED_CODECS } from '../builders/log-codecs.js';
import { JsonChild } from '../contract/storage/child-process.js';

const DIST = new URL('../../dist/', import.meta.url);
const WORKER = new URL('storage/session-log/session-log.worker.js', DIST);
const ROUNDS = 10;
/** Answers that a round waits for before it kills. */
const ANSWERS = 12;

interface Answer {
  readonly sessionId: string;
  readonly durable: number;
}

type Open = (
  directory: string,
  instanceEpoch: number,
) => Promise<{ backend: PersistenceBackend; close: () => Promise<void> }>;

const openJsonl: Open = async (directory, instanceEpoch) => {
  const root = join(directory, 'sessions');
  const backend = await JsonlBackend.open({ root, codec: 'none', instanceEpoch, tookOver: false });
  return { backend, close: () => backend.close() };
};
const openDatabase: Open = async (dataDir, instanceEpoch) => {
  const database = await openSessionDatabase({ dataDir, instanceEpoch, entry: WORKER });
  return { backend: new DatabaseBackend(database), close: () => database.close() };
};

describe('A process that is killed while it writes session logs', () => {
  it.each<[string, string, string, Open]>([
    ['jsonl', 'jsonl', 'none', openJsonl],
    ...FRAMED_CODECS.map((codec): [string, string, string, Open] => [
      `jsonl with ${codec} frames`,
      'jsonl',
      codec,
      openJsonl,
    ]),
    ['database', 'database', 'none', openDatabase],
  ])(
    'has everything that was answered, the rest whole or not at all (%s) [D-03, D-71]',
    async (_, kind, codec, open) => {
      const directory = mkdtempSync(join(tmpdir(), 'countersign-kills-'));
      let atLeast = new Map<string, number>();
      for (let round = 0; round < ROUNDS; round += 1) {
        const epoch = String(round * 2 + 1);
        const script = './support/session-log-writer.mjs';
        const child = JsonChild.start(import.meta.url, script, DIST.href, kind, directory, codec, epoch);
        for (let n = 0; n < ANSWERS + round; n += 1) {
          const answer = await child.next<Answer>();
          if (answer !== null) atLeast.set(answer.sessionId, answer.durable);
        }
        await child.kill();
        const { backend, close } = await open(directory, round * 2 + 2);
        const lengths = new Map<string, number>();
        for (const sessionId of ['s-1', 's-2']) lengths.set(sessionId, await checked(backend, sessionId));
        await close();
        for (const [sessionId, durable] of atLeast) expect(lengths.get(sessionId)).toBeGreaterThan(durable);
        atLeast = new Map([...lengths].map(([sessionId, length]) => [sessionId, length - 1]));
      }
      rmSync(directory, { recursive: true });
    },
  );
});

/** How many rows there are, every one of them in its place. */
async function checked(backend: PersistenceBackend, sessionId: string): Promise<number> {
  const found = await backend.loadStored({ tenant: 'acme', sessionId });
  const rows = found?.rows ?? [];
  expect(rows.filter(({ seq, eventId }, at) => seq !== at || Number(eventId.slice(-12)) !== at)).toEqual([]);
  const last = rows.at(-1);
  if (last?.kind === 'event' && last.groupSize !== undefined) expect(last.groupIndex).toBe(last.groupSize - 1);
  return rows.length;
}
