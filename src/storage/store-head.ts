import { assertTree, rootOf, type CompactTree } from '../ledger/core/compact-tree.js';

/** How far a store has come: the events it holds and the Merkle root over them. Hashes are lower-case hexadecimal. */
export interface StoreHead {
  /** Events, that is leaves: the next one gets this position. */
  readonly size: number;
  /** RFC 6962; null while a large store that was never counted before is still being counted. */
  readonly root: string | null;
  /** Hash of the last leaf; null for an empty store. */
  readonly leaf: string | null;
  /** The compact tree that `root` is made of: counting goes on from here. Empty while `root` is null. */
  readonly nodes: readonly string[];
}

export const hex = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');

const HASH = /^[0-9a-f]{64}$/;

/** The tree of a head, or null when it has none. Throws a plain `Error` when its parts contradict each other. */
export function treeOf({ size, root, nodes }: StoreHead): CompactTree | null {
  if (root === null) return null;
  const tree = { size, nodes: nodes.map((node) => new Uint8Array(Buffer.from(node, 'hex'))) };
  assertTree(tree);
  if (hex(rootOf(tree)) !== root) throw new Error('the root is not that of the nodes');
  return tree;
}

export function headOf(tree: CompactTree, leaf: string | null): StoreHead {
  return { size: tree.size, root: hex(rootOf(tree)), leaf, nodes: tree.nodes.map(hex) };
}

/** A head as it was written down by this program. Throws a plain `Error` for anything else. */
export function readHead(value: unknown): StoreHead {
  const { size, root, leaf, nodes } = Object(value) as Record<string, unknown>;
  const isHead =
    Number.isSafeInteger(size) &&
    (size as number) >= 0 &&
    isHashOrNull(root) &&
    isHashOrNull(leaf) &&
    (leaf === null) === (size === 0) &&
    Array.isArray(nodes) &&
    nodes.every((node) => typeof node === 'string' && HASH.test(node));
  if (!isHead) throw new Error('not the head of a store');
  const head = { size, root, leaf, nodes } as StoreHead;
  treeOf(head);
  return head;
}

const isHashOrNull = (value: unknown): boolean => value === null || (typeof value === 'string' && HASH.test(value));
