import { describe, expect, it } from '@jest/globals';
import { fileOf, fullSnapshot, KEY } from '../../../../test/builders/session-snapshots.js';
import type { SessionSnapshot } from '../session-state.js';
import { NO_SECRETS } from './plain-json.js';
import { decodeSnapshot, encodeSnapshot } from './snapshot-codec.js';

const SNAPSHOT = fullSnapshot();
const result = encodeSnapshot(SNAPSHOT, NO_SECRETS);
const TEXT = result.ok ? result.value : '';

let seed = 7;
function random(below: number): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed % below;
}

/** Either what was written, or a refusal with a code; never something else and never a throw. */
function readsRightOrRefuses(text: string, right: SessionSnapshot = SNAPSHOT): 'read' | 'refused' {
  const decoded = decodeSnapshot(text, KEY);
  if (decoded.ok) {
    expect(decoded.value).toEqual(right);
    return 'read';
  }
  expect(decoded.problem.code).toMatch(/^[a-z_]+$/u);
  return 'refused';
}

describe('a damaged snapshot is read right or refused with a code', () => {
  it('cut at every byte [A-81]', () => {
    for (let length = 0; length < TEXT.length; length += 1) {
      expect(readsRightOrRefuses(TEXT.slice(0, length))).toBe('refused');
    }
  });

  it('with a flipped bit at every byte [A-81]', () => {
    const bytes = Buffer.from(TEXT);
    for (let at = 0; at < bytes.length; at += 1) {
      const flipped = Buffer.from(bytes);
      flipped.writeUInt8(flipped.readUInt8(at) ^ (1 << random(8)), at);
      expect(readsRightOrRefuses(flipped.toString('utf8'))).toBe('refused');
    }
  });

  it('with stretches taken out, doubled and exchanged, 2,500 times [A-81]', () => {
    for (let n = 0; n < 2_500; n += 1) {
      const from = random(TEXT.length - 1);
      const to = from + 1 + random(Math.min(200, TEXT.length - from - 1));
      const stretch = TEXT.slice(from, to);
      const other = [
        TEXT.slice(0, from) + TEXT.slice(to),
        TEXT.slice(0, to) + stretch + TEXT.slice(to),
        TEXT.slice(0, from) + stretch.split('').toReversed().join('') + TEXT.slice(to),
      ][n % 3] as string;
      expect(other === TEXT ? 'refused' : readsRightOrRefuses(other)).toBe('refused');
    }
  });

  it('with fields taken out, doubled, emptied and replaced under a digest that fits, 1,500 times [A-81]', () => {
    const seen = new Set<string>();
    for (let n = 0; n < 1_500; n += 1) {
      const fields = JSON.parse(TEXT) as Record<string, unknown>;
      delete fields['contentDigest'];
      mutate(fields);
      const decoded = decodeSnapshot(fileOf(fields), KEY);
      seen.add(decoded.ok ? 'read' : decoded.problem.code);
      // What could be read can be written and read again.
      if (decoded.ok) expect(encodeSnapshot(decoded.value, NO_SECRETS).ok).toBe(true);
    }
    expect(seen.size).toBeGreaterThan(25);
  });

  it('of another session is not read as this one', () => {
    const other = { ...SNAPSHOT, agentState: fullSnapshot({ ...KEY, sessionId: 'ses-2' }).agentState };
    expect(decodeSnapshot(fileOf(other), KEY)).toMatchObject({ problem: { code: 'session_identity_mismatch' } });
  });

  it('that is no object, or no JSON [A-81]', () => {
    for (const text of ['', 'null', '1', '"x"', '[]', '[{}]', '{', 'undefined', '\u0000', '{"__proto__":{}}']) {
      expect(readsRightOrRefuses(text)).toBe('refused');
    }
  });
});

const VALUES: readonly unknown[] = [null, 5, -1, 1.5, 'x', '', true, [], {}, [null], [1], { a: 1 }];

/** Changes one place of a value, somewhere. */
function mutate(root: Record<string, unknown>): void {
  let at: Record<string, unknown> = root;
  for (;;) {
    const names = Object.keys(at);
    const name = names[random(names.length)];
    if (name === undefined) return;
    const inner = at[name];
    const hasInside = typeof inner === 'object' && inner !== null && Object.keys(inner).length > 0;
    if (hasInside && random(4) > 0) {
      at = inner as Record<string, unknown>;
      continue;
    }
    const way = random(3);
    if (way === 0 && !Array.isArray(at)) delete at[name];
    else if (way === 1 && Array.isArray(at)) (at as unknown[]).push(inner);
    else at[name] = VALUES[random(VALUES.length)];
    return;
  }
}
