import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { writeContainer } from '../../../src/ledger/core/bundle/container.js';
import { verifyBundle } from '../../../src/ledger/core/verify/verify-bundle.js';
import { bundleOf, partsOf, TRUST } from '../../builders/evidence-bundle.js';
import { story } from '../../builders/evidence-story.js';

const FLIPS = [0x01, 0x20, 0x80];
const hasFindings = (bundle: Uint8Array): boolean => verifyBundle(bundle, TRUST).findings.length > 0;

function flipped(bytes: Uint8Array, at: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[at] = (copy[at] as number) ^ (FLIPS[at % FLIPS.length] as number);
  return copy;
}

const each = (bytes: Uint8Array, step: number): number[] =>
  Array.from({ length: Math.ceil(bytes.length / step) }, (_, at) =>
    Math.min(at * step + (at % step), bytes.length - 1),
  );

describe('A flipped byte', () => {
  const tiny = bundleOf(story().slice(0, 1), { sizes: [1], tenant: null });
  // The entry alone is whole: its unit is cut to it.
  const [first] = story();
  const log = first === undefined ? [] : [{ ...first, envelope: { ...first.envelope, unitSize: 1 } }];
  const small = bundleOf(log);

  it('is found wherever it is in a small bundle', () => {
    expect(hasFindings(small)).toBe(false);
    expect(hasFindings(tiny)).toBe(true);
    const missed = each(small, 1).filter((at) => !hasFindings(flipped(small, at)));
    expect(missed).toEqual([]);
  });

  it('is found in every part, also when the container is made anew around it', () => {
    const missed: string[] = [];
    const parts = partsOf(log);
    for (const [name, content] of parts) {
      for (const at of each(content, 3)) {
        const bundle = writeContainer(new Map([...parts, [name, flipped(content, at)]]));
        if (!hasFindings(bundle)) missed.push(`${name} ${at}`);
      }
    }
    expect(missed).toEqual([]);
  });

  it('is found in samples of a larger bundle', () => {
    const golden = readFileSync(new URL('../../vectors/ledger/story.zip', import.meta.url));
    expect(hasFindings(golden)).toBe(false);
    const missed = each(golden, 61).filter((at) => !hasFindings(flipped(golden, at)));
    expect(missed).toEqual([]);
  });
});
