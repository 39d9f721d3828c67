import { emptyRoot, nodeHash } from './node-hash.js';
import { assertCount, rangeHash, splitOf, type NodeSource } from './node-source.js';

/**
 * One proof for many leaves at once: the hashes of the largest subtrees of the tree of `size` leaves that hold none of the known
 * positions, from left to right. With one position it is the audit path in another order, with a contiguous range it is the two edges
 * of the range, with every position it is empty.
 */
export function coverProof(source: NodeSource, positions: readonly number[], size: number): Uint8Array[] {
  assertCount(size);
  const proof: Uint8Array[] = [];
  const visit = (from: number, to: number, low: number, high: number): void => {
    if (low === high) {
      proof.push(rangeHash(source, from, to));
      return;
    }
    // Every leaf is known: nothing to add, nothing to look into.
    if (high - low === to - from) return;
    const middle = from + splitOf(to - from);
    const cut = firstAtLeast(positions, middle, low, high);
    visit(from, middle, low, cut);
    visit(middle, to, cut, high);
  };
  if (size > 0) visit(0, size, 0, positions.length);
  return proof;
}

/**
 * The root of the tree of `size` leaves from the leaf hashes at these ascending positions and the rest by the proof. Null when the
 * proof has too few or too many hashes. `leafAt(n)` is the hash of the n-th known leaf.
 */
export function coverRoot(
  positions: readonly number[],
  leafAt: (n: number) => Uint8Array,
  proof: readonly Uint8Array[],
  size: number,
): Uint8Array | null {
  if (size === 0) return proof.length === 0 && positions.length === 0 ? emptyRoot() : null;
  let used = 0;
  const visit = (from: number, to: number, low: number, high: number): Uint8Array | null => {
    if (low === high) {
      const given = proof[used] ?? null;
      used += 1;
      return given;
    }
    if (to - from === 1) return leafAt(low);
    const middle = from + splitOf(to - from);
    const cut = firstAtLeast(positions, middle, low, high);
    const left = visit(from, middle, low, cut);
    const right = visit(middle, to, cut, high);
    return left === null || right === null ? null : nodeHash(left, right);
  };
  const root = visit(0, size, 0, positions.length);
  return used === proof.length ? root : null;
}

/** The first index in [low, high) whose position is at least `position`, or `high`. */
function firstAtLeast(positions: readonly number[], position: number, low: number, high: number): number {
  let [from, to] = [low, high];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    if ((positions[middle] as number) < position) from = middle + 1;
    else to = middle;
  }
  return from;
}
