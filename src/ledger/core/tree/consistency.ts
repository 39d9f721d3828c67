import { isCount } from './inclusion.js';
import { emptyRoot, isHash, nodeHash, sameHash } from './node-hash.js';
import { assertCount, rangeHash, splitOf, type NodeSource } from './node-source.js';

/**
 * That the tree of `first` leaves is the beginning of the tree of `second`: RFC 6962 section 2.1.2. Empty when there is nothing to
 * prove (`first` is 0 or equals `second`). Throws a plain `Error` unless `first ≤ second`.
 */
export function consistencyProof(source: NodeSource, first: number, second: number): Uint8Array[] {
  assertCount(first);
  assertCount(second);
  if (first > second) throw new Error('a tree does not get smaller');
  if (first === 0 || first === second) return [];
  const proof: Uint8Array[] = [];
  let from = 0;
  let to = second;
  let isOldRoot = true;
  while (to !== first) {
    const middle = from + splitOf(to - from);
    if (first <= middle) {
      proof.push(rangeHash(source, middle, to));
      to = middle;
    } else {
      proof.push(rangeHash(source, from, middle));
      from = middle;
      isOldRoot = false;
    }
  }
  if (!isOldRoot) proof.push(rangeHash(source, from, to));
  return proof.reverse();
}

export interface Consistency {
  readonly first: number;
  readonly firstRoot: Uint8Array;
  readonly second: number;
  readonly secondRoot: Uint8Array;
  readonly proof: readonly Uint8Array[];
}

/** RFC 9162 section 2.1.4.2. Never throws. A tree of 0 leaves is the beginning of every tree and has one root. */
export function isConsistent({ first, firstRoot, second, secondRoot, proof }: Consistency): boolean {
  if (!isCount(first) || !isCount(second) || first > second) return false;
  if (![firstRoot, secondRoot, ...proof].every(isHash)) return false;
  if (first === 0 && !sameHash(firstRoot, emptyRoot())) return false;
  if (first === second) return proof.length === 0 && sameHash(firstRoot, secondRoot);
  if (first === 0) return proof.length === 0;
  const path = isPowerOfTwo(first) ? [firstRoot, ...proof] : proof;
  const climbed = climb(path, first - 1, second - 1);
  return climbed !== null && sameHash(climbed.first, firstRoot) && sameHash(climbed.second, secondRoot);
}

/** Both roots from one path; null when the path is too short or too long. */
function climb(
  path: readonly Uint8Array[],
  firstLast: number,
  secondLast: number,
): { first: Uint8Array; second: Uint8Array } | null {
  let own = firstLast;
  let last = secondLast;
  while (own % 2 === 1) [own, last] = [half(own), half(last)];
  const [start, ...rest] = path;
  if (start === undefined) return null;
  let first = start;
  let second = start;
  for (const node of rest) {
    if (last === 0) return null;
    if (own % 2 === 1 || own === last) {
      first = nodeHash(node, first);
      second = nodeHash(node, second);
      while (own % 2 === 0 && own !== 0) [own, last] = [own / 2, half(last)];
    } else {
      second = nodeHash(second, node);
    }
    [own, last] = [half(own), half(last)];
  }
  return last === 0 ? { first, second } : null;
}

const half = (count: number): number => Math.floor(count / 2);

function isPowerOfTwo(count: number): boolean {
  let rest = count;
  while (rest % 2 === 0) rest /= 2;
  return rest === 1;
}
