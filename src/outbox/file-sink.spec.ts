import { chmodSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FileSink } from './file-sink.js';
import type { Delivery } from './sink.js';

let folder: string;
let path: string;
let sink: FileSink;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-file-sink-'));
  path = join(folder, 'events.ndjson');
  sink = new FileSink(path);
});
afterEach(async () => {
  await sink.close();
  rmSync(folder, { recursive: true });
});

const batch = (...numbers: readonly number[]): Delivery[] =>
  numbers.map((n) => ({
    position: n,
    eventId: `evt_${n}`,
    partition: 'p',
    recordedAt: '',
    body: JSON.stringify({ n, text: 'zeilen\nende' }),
  }));
const kinds = async (...numbers: readonly number[]): Promise<string[]> =>
  (await sink.deliver(batch(...numbers))).map(({ outcome }) => outcome.kind);
const text = (): string => readFileSync(path, 'utf8');
const numbers = (): number[] =>
  text()
    .split('\n')
    .flatMap((line) => {
      try {
        return [(JSON.parse(line) as { n: number }).n];
      } catch {
        return [];
      }
    });

describe('the file for a log shipper', () => {
  it('has one event a line, and nobody but its owner may read it', async () => {
    expect(await kinds(1, 2)).toEqual(['delivered', 'delivered']);
    expect(text().endsWith('\n')).toBe(true);
    expect(text().split('\n')).toHaveLength(3);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('is only ever appended to, over restarts too', async () => {
    await kinds(1);
    const before = text();
    await sink.close();
    sink = new FileSink(path);
    await kinds(2);
    expect(text().startsWith(before)).toBe(true);
    expect(numbers()).toEqual([1, 2]);
  });

  it('that a crash left with half a line goes on with a line of its own', async () => {
    await kinds(1, 2);
    await sink.close();
    truncateSync(path, statSync(path).size - 7);
    sink = new FileSink(path);
    await kinds(2, 3);
    expect(numbers()).toEqual([1, 2, 3]);
    expect(text().split('\n')).toHaveLength(5);
  });

  it('is made anew after it was moved away, and the moved one keeps what it has', async () => {
    await kinds(1);
    renameSync(path, `${path}.1`);
    await kinds(2);
    expect(numbers()).toEqual([2]);
    expect(readFileSync(`${path}.1`, 'utf8')).toContain('"n":1');
  });

  it('goes on from the beginning after it was cut to nothing in place', async () => {
    await kinds(1);
    truncateSync(path, 0);
    await kinds(2);
    expect(text().startsWith('{')).toBe(true);
    expect(numbers()).toEqual([2]);
  });

  it('that cannot be written takes nothing, says why in a word, and recovers by itself', async () => {
    mkdirSync(path);
    const outcomes = await sink.deliver(batch(1));
    expect(outcomes).toMatchObject([{ outcome: { kind: 'unavailable', reason: 'EISDIR' } }]);
    rmSync(path, { recursive: true });
    expect(await kinds(1)).toEqual(['delivered']);
    chmodSync(path, 0o640);
    await kinds(2);
    expect(statSync(path).mode & 0o777).toBe(0o640);
  });
});
