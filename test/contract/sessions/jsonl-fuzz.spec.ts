import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { encodeRow } from '../../../src/domain/session/row-codec.js';
import type { SessionRow } from '../../../src/domain/session/session-row.js';
import { JsonlBackend } from '../../../src/sessions/backends/jsonl/jsonl-backend.js';
import { logPath } from '../../../src/sessions/backends/jsonl/log-path.js';
import { scanBytes, type ScannedLog } from '../../../src/sessions/backends/jsonl/log-scan.js';
import type { LogCodec } from '../../../src/sessions/backends/jsonl/row-lines.js';
import { logBytes, type Batch } from '../../builders/log-bytes.js';
import { CODECS } from '../../builders/log-codecs.js';
import { mixedRows, noticeRow, sessionHeader, sessionKey } from '../../builders/session-rows.js';
import { newSessionsDir } from './log-backends.js';
import { RandomDamage } from './random-damage.js';

/** The same for rows whose members come in another order. */
const textOf = (rows: readonly SessionRow[]): string => rows.map(encodeRow).join('\n');

const KEY = sessionKey('s-1');
const OTHER = sessionKey('s-2');
const REFUSALS = ['session_log_corrupt', 'session_format_unsupported', 'session_identity_mismatch'];
const ROWS: readonly SessionRow[] = mixedRows(0, 30);
const BATCHES: readonly Batch[] = [
  { rows: ROWS.slice(0, 7), barrier: false },
  { rows: ROWS.slice(7, 17), barrier: true },
  { rows: ROWS.slice(17, 23), barrier: true },
  { rows: ROWS.slice(23), barrier: false },
];

/** What is wrong with the answer to a damaged file, or null. `ends` are those of the whole file's batches. */
function wrong(damaged: Buffer, whole: Buffer, ends: readonly number[], isDamagedOnce: boolean): string | null {
  let found: ScannedLog | null;
  try {
    found = scanBytes(damaged, KEY);
  } catch (error) {
    const { code } = error as { code?: string };
    return code !== undefined && REFUSALS.includes(code) ? null : `failed: ${String(error)}`;
  }
  const rows = found?.rows ?? [];
  if (textOf(rows) !== textOf(ROWS.slice(0, rows.length))) return 'other rows than were written';
  // A promise that is still in the file as it was written, with everything before it: nothing of that may be missing.
  const [, , second = 0, third = 0] = ends;
  for (const [end, promised] of [
    [second, 17],
    [third, 23],
  ] as const) {
    const isThere = damaged.subarray(0, end).equals(whole.subarray(0, end));
    if (isThere && rows.length < promised) return `lost ${promised - rows.length} promised rows`;
  }
  // What is followed by anything that was written after it is never the end. (Bytes lost twice may look like one cut.)
  const isCut = whole.subarray(0, damaged.length).equals(damaged);
  if (isDamagedOnce && rows.length < 23 && !isCut && damaged.includes(whole.subarray(third - 40, third)))
    return 'lost promised rows';
  return null;
}

describe.each(CODECS)('A damaged log (%s)', (codec: LogCodec) => {
  it('is read as far as it was written, or refused; nothing promised is lost in silence', async () => {
    const { bytes, ends } = await logBytes(KEY, BATCHES, codec);
    const other = (await logBytes(OTHER, BATCHES, codec)).bytes;
    const random = new RandomDamage(20_260_105);
    const findings: string[] = [];
    const look = (damaged: Buffer, how: string, isDamagedOnce = true): void => {
      const finding = wrong(damaged, bytes, ends, isDamagedOnce);
      if (finding !== null) findings.push(`${how}: ${finding}`);
    };
    for (let length = 0; length <= bytes.length; length += 1) look(bytes.subarray(0, length), `cut at ${length}`);
    for (let n = 0; n < 10_000; n += 1) {
      const once = random.damaged(bytes, other);
      if (n % 5 > 0 || once.length === 0) look(once, `damage ${n}`);
      else look(random.damaged(once, other), `damage ${n}, twice`, false);
    }
    expect(findings).toEqual([]);
  });

  it('is repaired once and goes on, through real files too', async () => {
    const { bytes } = await logBytes(KEY, BATCHES, codec);
    const dir = newSessionsDir();
    const random = new RandomDamage(7);
    const path = logPath(dir, KEY).file;
    const outcomes = new Map<string, number>();
    let epoch = 0;
    for (let n = 0; n < 120; n += 1) {
      epoch += 1;
      const backend = await JsonlBackend.open({ root: dir, codec, instanceEpoch: epoch, tookOver: false });
      await backend.delete(KEY);
      await backend.appendBatch(KEY, sessionHeader(KEY), [noticeRow(0)], { materialized: false, barrier: false });
      await backend.close();
      writeFileSync(path, n % 2 === 0 ? bytes.subarray(0, random.below(bytes.length)) : random.damaged(bytes, bytes));
      const outcome = await loadRepairAppend(dir, epoch, codec, path);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
    rmSync(dir, { recursive: true });
    expect(
      [...outcomes.keys()].filter((outcome) => !['repaired', 'whole', 'none', ...REFUSALS].includes(outcome)),
    ).toEqual([]);
    expect(outcomes.get('repaired')).toBeGreaterThan(5);
    expect(outcomes.get('session_log_corrupt')).toBeGreaterThan(5);
  });
});

/** A refusal leaves every byte; anything else ends in a log that is whole with one row more. */
async function loadRepairAppend(root: string, epoch: number, codec: LogCodec, path: string): Promise<string> {
  const backend = await JsonlBackend.open({ root, codec, instanceEpoch: epoch, tookOver: false });
  const before = readFileSync(path);
  try {
    const found = await backend.loadStored(KEY);
    const rows = found?.rows ?? [];
    if (found?.torn !== undefined) await backend.commitRepair(KEY, found.torn, []);
    const row = noticeRow(rows.length, { payload: { after: 'the damage' } });
    await backend.appendBatch(KEY, sessionHeader(KEY), [row], { materialized: found !== null, barrier: true });
    const after = await backend.loadStored(KEY);
    const isWhole = after?.torn === undefined && textOf(after?.rows ?? []) === textOf([...rows, row]);
    if (!isWhole) return 'not whole after a repair';
    return found === null ? 'none' : found.torn === undefined ? 'whole' : 'repaired';
  } catch (error) {
    if (!readFileSync(path).equals(before)) return 'changed by a refusal';
    return (error as { code?: string }).code ?? String(error);
  } finally {
    await backend.close();
  }
}
