import { emptyRoot, nodeHash } from './node-hash.js';

/**
 * Where proofs read from. `node(level, index)` is the hash of the complete subtree over the leaves
 * [index · 2^level, (index + 1) · 2^level): level 0 is the leaf hashes. Asked only for subtrees that are complete in the tree
 * of the size at hand. Throws a plain `Error` for a node it does not have.
 */
export interface NodeSource {
  node(level: number, index: number): Uint8Array;
}

/** All leaf hashes in memory, each inner node hashed once. For tests and for bundles that hold the whole tree. */
export class LeafNodes implements NodeSource {
  private readonly known = new Map<string, Uint8Array>();

  constructor(private readonly leaves: readonly Uint8Array[]) {}

  node(level: number, index: number): Uint8Array {
    if (level === 0) {
      const leaf = this.leaves[index];
      if (leaf === undefined) throw new Error(`no leaf ${index}`);
      return leaf;
    }
    const key = `${level}/${index}`;
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const made = nodeHash(this.node(level - 1, 2 * index), this.node(level - 1, 2 * index + 1));
    this.known.set(key, made);
    return made;
  }
}

/** RFC 6962 section 2.1: MTH(D[from:to]), for a range that the tree's own splitting produces. */
export function rangeHash(source: NodeSource, from: number, to: number): Uint8Array {
  const width = to - from;
  if (width <= 0) throw new Error('an empty range has no hash');
  const split = splitOf(width);
  if (split === width / 2 || width === 1) {
    const level = Math.round(Math.log2(width));
    if (from % width === 0) return source.node(level, from / width);
  }
  return nodeHash(rangeHash(source, from, from + split), rangeHash(source, from + split, to));
}

/** The root of the first `size` leaves. */
export function rootAt(source: NodeSource, size: number): Uint8Array {
  assertCount(size);
  return size === 0 ? emptyRoot() : rangeHash(source, 0, size);
}

/** The largest power of two below `width`; 1 for a width of 1 or 2. */
export function splitOf(width: number): number {
  let split = 1;
  while (split * 2 < width) split *= 2;
  return split;
}

export function assertCount(count: number): void {
  if (!Number.isSafeInteger(count) || count < 0) throw new Error('a count of leaves is a whole number of at least 0');
}
