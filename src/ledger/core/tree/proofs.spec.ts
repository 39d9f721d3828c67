import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { EMPTY_TREE, rootOf, withLeaves } from '../compact-tree.js';
import { consistencyProof, isConsistent } from './consistency.js';
import { coverProof, coverRoot } from './cover.js';
import { includes, inclusionProof } from './inclusion.js';
import { emptyRoot, nodeHash, sameHash } from './node-hash.js';
import { LeafNodes, rootAt } from './node-source.js';

interface Vectors {
  readonly roots: readonly { size: number; root: string }[];
  readonly inclusion: readonly { index: number; size: number; proof: readonly string[] }[];
  readonly consistency: readonly { first: number; second: number; proof: readonly string[] }[];
}

const vectors = JSON.parse(
  readFileSync(new URL('../../../../test/vectors/ledger/trees.json', import.meta.url), 'utf8'),
) as Vectors;

const leafAt = (index: number): Uint8Array => createHash('sha256').update(`\0${index}`).digest();
const leaves = Array.from({ length: 1_000 }, (_, index) => leafAt(index));
const tree = new LeafNodes(leaves);
const hex = (hash: Uint8Array): string => Buffer.from(hash).toString('hex');
const root = (size: number): Uint8Array => rootAt(tree, size);

const sizes = fc.integer({ min: 1, max: 300 });
const pairs = sizes.chain((size) => fc.tuple(fc.nat(size - 1), fc.constant(size)));

/** Each way to alter a proof by one hash. */
function* alteredProofs(proof: readonly Uint8Array[]): Generator<Uint8Array[]> {
  const other = leafAt(5_000);
  for (let at = 0; at <= proof.length; at += 1) {
    yield [...proof.slice(0, at), other, ...proof.slice(at)];
    if (at === proof.length) continue;
    yield [...proof.slice(0, at), ...proof.slice(at + 1)];
    yield [...proof.slice(0, at), other, ...proof.slice(at + 1)];
  }
}

describe('a tree of RFC 6962', () => {
  it.each(vectors.roots)('of $size leaves has the root that another program computes', ({ size, root: expected }) => {
    expect(hex(root(size))).toBe(expected);
    expect(hex(rootOf(withLeaves(EMPTY_TREE, leaves.slice(0, size))))).toBe(expected);
  });

  it('has proofs of inclusion like those of another program, and accepts them', () => {
    for (const { index, size, proof } of vectors.inclusion) {
      const own = inclusionProof(tree, index, size);
      expect(own.map(hex)).toEqual(proof);
      expect(includes({ index, size, leafHash: leafAt(index), proof: own, root: root(size) })).toBe(true);
    }
  });

  it('has proofs of consistency like those of another program, and accepts them', () => {
    for (const { first, second, proof } of vectors.consistency) {
      const own = consistencyProof(tree, first, second);
      expect(own.map(hex)).toEqual(proof);
      const roots = { firstRoot: root(first), secondRoot: root(second) };
      expect(isConsistent({ first, second, ...roots, proof: own })).toBe(true);
    }
  });

  it('has no proof for a leaf it does not have, and none that it got smaller', () => {
    expect(() => inclusionProof(tree, 5, 5)).toThrow('no such leaf');
    expect(() => consistencyProof(tree, 6, 5)).toThrow('does not get smaller');
    expect(() => rootAt(tree, -1)).toThrow('whole number');
    expect(() => rootAt(tree, 1_001)).toThrow('no leaf');
  });
});

describe('a proof of inclusion', () => {
  it('holds for its leaf, its place and its tree only', () => {
    fc.assert(
      fc.property(pairs, fc.nat(300), ([index, size], other) => {
        const whole = {
          index,
          size,
          leafHash: leafAt(index),
          proof: inclusionProof(tree, index, size),
          root: root(size),
        };
        expect(includes(whole)).toBe(true);
        for (const proof of alteredProofs(whole.proof)) expect(includes({ ...whole, proof })).toBe(false);
        if (other !== index) {
          expect(includes({ ...whole, index: other })).toBe(false);
          expect(includes({ ...whole, leafHash: leafAt(other) })).toBe(false);
        }
        expect(includes({ ...whole, root: root(size + 1) })).toBe(false);
      }),
      { numRuns: 60 },
    );
  });

  it('cannot present a node as a leaf', () => {
    // The node over leaves 2 and 3 of 8 with the rest of their path: right as a computation, wrong as a proof.
    const proof = inclusionProof(tree, 2, 8).slice(1);
    const node = nodeHash(leafAt(2), leafAt(3));
    for (let index = 0; index < 8; index += 1) {
      expect(includes({ index, size: 8, leafHash: node, proof, root: root(8) })).toBe(false);
    }
    // As bytes of a leaf they are hashed behind another prefix.
    const asLeaf = createHash('sha256').update(Uint8Array.of(0)).update(leafAt(2)).update(leafAt(3)).digest();
    expect(sameHash(asLeaf, node)).toBe(false);
  });

  it('does not know the doubled last leaf of other trees', () => {
    const doubled = new LeafNodes([...leaves.slice(0, 3), leafAt(2)]);
    expect(sameHash(rootAt(doubled, 4), root(3))).toBe(false);
    const proof = inclusionProof(doubled, 3, 4);
    expect(includes({ index: 3, size: 4, leafHash: leafAt(2), proof, root: root(3) })).toBe(false);
  });

  it.each([
    ['a negative place', { index: -1 }],
    ['half a place', { index: 0.5 }],
    ['a size that is no number', { size: Number.NaN }],
    ['a short leaf hash in a tree of one', { size: 1, proof: [], leafHash: new Uint8Array(3) }],
  ])('is none with %s', (_, change) => {
    const whole = { index: 0, size: 2, leafHash: leafAt(0), proof: [leafAt(1)], root: root(2) };
    expect(includes({ ...whole, ...change })).toBe(false);
  });
});

describe('a proof of consistency', () => {
  it('holds for its two trees only', () => {
    fc.assert(
      fc.property(pairs, ([before, second]) => {
        const first = before + 1;
        const proof = consistencyProof(tree, first, second);
        const whole = { first, second, firstRoot: root(first), secondRoot: root(second), proof };
        expect(isConsistent(whole)).toBe(true);
        for (const altered of alteredProofs(proof)) expect(isConsistent({ ...whole, proof: altered })).toBe(false);
        expect(isConsistent({ ...whole, firstRoot: leafAt(7_000) })).toBe(false);
        expect(isConsistent({ ...whole, secondRoot: leafAt(7_000) })).toBe(false);
        expect(isConsistent({ ...whole, second: first - 1 })).toBe(false);
      }),
      { numRuns: 60 },
    );
  });

  it('is empty from the empty tree, which has one root', () => {
    const whole = { first: 0, second: 5, firstRoot: emptyRoot(), secondRoot: root(5), proof: [] };
    expect(consistencyProof(tree, 0, 5)).toEqual([]);
    expect(isConsistent(whole)).toBe(true);
    expect(isConsistent({ ...whole, firstRoot: root(1) })).toBe(false);
    expect(isConsistent({ ...whole, proof: [leafAt(0)] })).toBe(false);
  });
});

describe('a proof of many leaves', () => {
  const subsets = sizes.chain((size) =>
    fc.tuple(fc.constant(size), fc.uniqueArray(fc.nat(size - 1), { maxLength: 40 })),
  );

  it('leads to the root from any leaves, and from no others', () => {
    fc.assert(
      fc.property(subsets, ([size, unsorted]) => {
        const positions = unsorted.sort((left, right) => left - right);
        const proof = coverProof(tree, positions, size);
        const leafOf = (n: number): Uint8Array => leafAt(positions[n] as number);
        expect(hex(coverRoot(positions, leafOf, proof, size) ?? emptyRoot())).toBe(hex(root(size)));
        for (const altered of alteredProofs(proof)) {
          const found = coverRoot(positions, leafOf, altered, size);
          expect(found !== null && sameHash(found, root(size))).toBe(false);
        }
        if (positions.length > 0) {
          const found = coverRoot(positions, () => leafAt(9_000), proof, size);
          expect(found !== null && sameHash(found, root(size))).toBe(false);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('has the hashes of the audit path for one leaf, and none when every leaf is known', () => {
    const path = inclusionProof(tree, 77, 300).map(hex).sort();
    expect(coverProof(tree, [77], 300).map(hex).sort()).toEqual(path);
    expect(
      coverProof(
        tree,
        Array.from({ length: 300 }, (_, at) => at),
        300,
      ),
    ).toEqual([]);
    expect(coverRoot([], () => leafAt(0), [], 0)).toEqual(emptyRoot());
    expect(coverRoot([], () => leafAt(0), [leafAt(0)], 0)).toBeNull();
  });
});
