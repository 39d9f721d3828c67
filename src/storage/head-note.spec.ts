import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readHeadNote, writeHeadNote, type HeadNote } from './head-note.js';

const NOTE: HeadNote = {
  size: 1,
  root: 'ab'.repeat(32),
  leaf: 'ab'.repeat(32),
  nodes: ['ab'.repeat(32)],
  closed: true,
  at: '2031-01-01T00:00:00.000Z',
};

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'countersign-note-'));
  path = join(dir, 'deeper', 'head.json');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('the note of a head', () => {
  it('is read as it was written, by its owner alone, and leaves no draft', async () => {
    await writeHeadNote(path, { ...NOTE, closed: false });
    await writeHeadNote(path, NOTE);
    expect(readHeadNote(path)).toEqual(NOTE);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(dir, 'deeper'))).toEqual(['head.json']);
  });

  it('is missing where there is no file', () => {
    expect(readHeadNote(path)).toBe('missing');
  });

  it.each([
    ['half a line', '{"format":"countersign/head/1","si'],
    ['nothing', ''],
    ['another format', JSON.stringify({ ...NOTE, format: 'countersign/head/2' })],
    [
      'a root that is not that of its nodes',
      JSON.stringify({ ...NOTE, format: 'countersign/head/1', root: 'cd'.repeat(32) }),
    ],
  ])('is unreadable with %s', (_, text) => {
    const file = join(dir, 'head.json');
    writeFileSync(file, text);
    expect(readHeadNote(file)).toBe('unreadable');
  });
});
