import { readFileSync } from 'node:fs';
import { mkdir, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { readHead, type StoreHead } from './store-head.js';

/** The highest head of a store that this program knows of, kept in a file outside its database. */
export interface HeadNote extends StoreHead {
  /** True when the store was closed in order with exactly this head: nothing was recorded after it. */
  readonly closed: boolean;
  /** ISO 8601. */
  readonly at: string;
}

const FORMAT = 'countersign/head/1';

/** What the file says; `missing` when there is none, `unreadable` when it is not such a note. */
export function readHeadNote(path: string): HeadNote | 'missing' | 'unreadable' {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'missing' : 'unreadable';
  }
  try {
    const { format, closed, at, ...head } = JSON.parse(text) as Record<string, unknown>;
    if (format !== FORMAT || typeof closed !== 'boolean' || typeof at !== 'string') return 'unreadable';
    return { ...readHead(head), closed, at };
  } catch {
    return 'unreadable';
  }
}

/** Whole or not at all, and on disk when it resolves: another name, synced, renamed, and the directory synced. */
export async function writeHeadNote(path: string, note: HeadNote): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.new`;
  const file = await open(draft, 'w', 0o600);
  try {
    await file.writeFile(`${JSON.stringify({ format: FORMAT, ...note })}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  const directory = await open(dirname(path), 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
