import { isHash, nodeHash, sameHash } from './node-hash.js';
import { assertCount, rangeHash, splitOf, type NodeSource } from './node-source.js';

/**
 * That the leaf at `index` is in the tree of `size` leaves: the audit path of RFC 6962 section 2.1.1, the sibling nearest to the
 * leaf first. Throws a plain `Error` unless `index < size`.
 */
export function inclusionProof(source: NodeSource, index: number, size: number): Uint8Array[] {
  assertCount(index);
  assertCount(size);
  if (index >= size) throw new Error('the tree has no such leaf');
  const path: Uint8Array[] = [];
  let from = 0;
  let to = size;
  while (to - from > 1) {
    const middle = from + splitOf(to - from);
    if (index < middle) {
      path.push(rangeHash(source, middle, to));
      to = middle;
    } else {
      path.push(rangeHash(source, from, middle));
      from = middle;
    }
  }
  return path.reverse();
}

export interface Inclusion {
  readonly index: number;
  readonly size: number;
  /** SHA-256(0x00 ‖ leaf), computed by whoever verifies: a hash that somebody hands over may be that of a node. */
  readonly leafHash: Uint8Array;
  readonly proof: readonly Uint8Array[];
  readonly root: Uint8Array;
}

/** RFC 9162 section 2.1.3.2. Never throws: what cannot be a proof is none. */
export function includes({ index, size, leafHash, proof, root }: Inclusion): boolean {
  if (!isCount(index) || !isCount(size) || index >= size) return false;
  if (![leafHash, ...proof].every(isHash)) return false;
  let node = leafHash;
  let own = index;
  let last = size - 1;
  for (const sibling of proof) {
    if (last === 0) return false;
    if (own % 2 === 1 || own === last) {
      node = nodeHash(sibling, node);
      // Where the tree has no sibling on this level, the proof goes on above.
      while (own % 2 === 0 && own !== 0) [own, last] = [own / 2, half(last)];
    } else {
      node = nodeHash(node, sibling);
    }
    [own, last] = [half(own), half(last)];
  }
  return last === 0 && sameHash(node, root);
}

const half = (count: number): number => Math.floor(count / 2);

export const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;
