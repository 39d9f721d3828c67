import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { JsonlBackend } from '../../../src/sessions/backends/jsonl/jsonl-backend.js';
import { knownSessionEpoch } from '../../../src/sessions/backends/known-epoch.js';
import { openSessionDatabase } from '../../../src/storage/session-log/open-session-database.js';
import { newSessionsDir, SESSION_WORKER } from './log-backends.js';

let dataDir: string;
beforeEach(() => {
  dataDir = newSessionsDir();
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const useFiles = async (instanceEpoch: number) =>
  (await JsonlBackend.open({ root: join(dataDir, 'sessions'), codec: 'none', instanceEpoch, tookOver: false })).close();
const useDatabase = async (instanceEpoch: number) =>
  (await openSessionDatabase({ dataDir, instanceEpoch, entry: SESSION_WORKER })).close();

describe('The highest epoch that session logs know', () => {
  it('is that of the last process that has worked on either medium', async () => {
    expect(await knownSessionEpoch(dataDir)).toBe(0);
    await useFiles(4);
    expect(await knownSessionEpoch(dataDir)).toBe(4);
    await useDatabase(7);
    expect(await knownSessionEpoch(dataDir)).toBe(7);
    await useFiles(9);
    expect(await knownSessionEpoch(dataDir)).toBe(9);
  });

  it('is nothing that a database which cannot be read could say, and a damaged owner file is said to be one', async () => {
    writeFileSync(join(dataDir, 'sessions.sqlite'), 'a text file');
    expect(await knownSessionEpoch(dataDir)).toBe(0);
    await useFiles(1);
    writeFileSync(join(dataDir, 'sessions', '.owner'), 'nobody');
    await expect(knownSessionEpoch(dataDir)).rejects.toThrow('owner file');
  });
});
