import type { BundleManifest, ConsistencyPart } from '../bundle/bundle-format.js';
import { EMPTY_TREE, rootOf, withLeaves } from '../compact-tree.js';
import { isConsistent } from '../tree/consistency.js';
import { coverRoot } from '../tree/cover.js';
import type { KnownLeaves } from './entry-lines.js';
import { readHash } from './part-shapes.js';

/** What the entries and proofs of a bundle say about the tree at different sizes. */
export class TreeFacts {
  private readonly roots = new Map<number, Uint8Array>();

  constructor(
    private readonly manifest: BundleManifest,
    private readonly leaves: KnownLeaves,
    private readonly proof: readonly Uint8Array[],
    private readonly consistency: readonly ConsistencyPart[],
  ) {}

  /** False when an entry could not be read: no root can be told then. */
  get isReadable(): boolean {
    return this.leaves.whole;
  }

  /** True when every leaf of the tree is in the bundle, so that its root at every size can be computed. */
  get isWhole(): boolean {
    return this.leaves.whole && this.leaves.positions.length === this.manifest.treeSize;
  }

  /** The root of the whole tree from entries and proof; null when the proof does not fit. */
  provenRoot(): Uint8Array | null {
    const { positions, hashes } = this.leaves;
    return coverRoot(positions, (n) => hashes[n] as Uint8Array, this.proof, this.manifest.treeSize);
  }

  /** The roots at these ascending sizes, computed from the entries. Only when every leaf is there. */
  computeRoots(sizes: readonly number[]): void {
    let tree = EMPTY_TREE;
    for (const size of sizes) {
      tree = withLeaves(tree, this.leaves.hashes.slice(tree.size, size));
      this.roots.set(size, rootOf(tree));
    }
  }

  computedRoot(size: number): Uint8Array | null {
    return this.roots.get(size) ?? null;
  }

  /** Whether the tree of `first` leaves is the beginning of that of `second`; `null` when the bundle does not prove it. */
  continues(first: Sized, second: Sized): boolean | null {
    const given = this.consistency.find((part) => part.first === first.size && part.second === second.size);
    const isTrivial = first.size === 0 || first.size === second.size;
    if (given === undefined && !isTrivial) return null;
    const proof = (given?.hashes ?? []).map((hash) => readHash(hash) as Uint8Array);
    return isConsistent({
      first: first.size,
      firstRoot: first.root,
      second: second.size,
      secondRoot: second.root,
      proof,
    });
  }
}

export interface Sized {
  readonly size: number;
  readonly root: Uint8Array;
}
