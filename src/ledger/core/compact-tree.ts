import { HASH_BYTES } from './sha256.js';
import { emptyRoot, nodeHash } from './tree/node-hash.js';

/**
 * A Merkle tree of RFC 6962 that keeps only the roots of its complete subtrees, one per set bit of its size, the largest first:
 * enough to append and to tell the root. `nodes` are 32 bytes each.
 */
export interface CompactTree {
  readonly size: number;
  readonly nodes: readonly Uint8Array[];
}

export const EMPTY_TREE: CompactTree = { size: 0, nodes: [] };

/** The tree with these leaf hashes behind its own. About one hash per leaf. */
export function withLeaves(tree: CompactTree, leaves: readonly Uint8Array[]): CompactTree {
  const nodes = [...tree.nodes];
  let { size } = tree;
  for (const leaf of leaves) {
    let node = leaf;
    // As many trailing ones as the size has, as many complete subtrees of growing height end here.
    for (let bits = size; bits % 2 === 1; bits = Math.floor(bits / 2)) node = nodeHash(present(nodes.pop()), node);
    nodes.push(node);
    size += 1;
  }
  return { size, nodes };
}

/** The Merkle tree hash, 32 bytes; that of the empty tree is the hash of nothing. */
export function rootOf({ nodes }: CompactTree): Uint8Array {
  const [smallest, ...larger] = [...nodes].reverse();
  if (smallest === undefined) return emptyRoot();
  return larger.reduce((root, node) => nodeHash(node, root), smallest);
}

/** Throws a plain `Error` unless a tree of this size has so many nodes, each of them a hash. */
export function assertTree({ size, nodes }: CompactTree): void {
  const bits = Number.isSafeInteger(size) && size >= 0 ? BigInt(size).toString(2).replaceAll('0', '').length : -1;
  if (bits !== nodes.length || nodes.some(({ length }) => length !== HASH_BYTES)) {
    throw new Error('the nodes are not those of a tree of this size');
  }
}

function present(node: Uint8Array | undefined): Uint8Array {
  if (node === undefined) throw new Error('the tree lacks a node');
  return node;
}
