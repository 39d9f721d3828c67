import type { Database, Statement } from 'better-sqlite3';
import { EMPTY_TREE, withLeaves, type CompactTree } from '../../ledger/core/compact-tree.js';
import { headOf, hex, treeOf, type StoreHead } from '../store-head.js';

const PAGE_LEAVES = 2_000;

/** Leaves of committed units that wait to be counted; beyond it they are counted without being asked. */
const WAITING_MAX = 4_096;

/** Told of every leaf the writer writes, in order, and of those that a rolled-back unit gave back. */
export interface LeafLog {
  add(position: number, leafHash: Uint8Array): void;
  rewind(position: number): void;
}

/**
 * The Merkle root of the store, kept by the writer: leaves are noted as they are written and hashed into the tree when somebody asks,
 * between two batches. A tree that is not known up to the first new leaf is counted from the rows, in pages.
 */
export class TreeKeeper implements LeafLog {
  private tree: CompactTree;
  private waiting: Uint8Array[] = [];
  private readonly page: Statement<[number, number]>;
  private readonly leaf: Statement<[number]>;
  private readonly count: Statement<[]>;

  /** `known`: heads that may be earlier ones of this store; the tree begins with the first that is. */
  constructor(database: Database, known: readonly StoreHead[]) {
    const leaves = 'FROM positions AS p JOIN events AS e ON e.event_id = p.event_id';
    this.page = database
      .prepare<[number, number]>(`SELECT e.leaf_hash ${leaves} WHERE p.idx >= ? AND p.idx < ? ORDER BY p.idx`)
      .pluck();
    this.leaf = database.prepare<[number]>(`SELECT e.leaf_hash ${leaves} WHERE p.idx = ?`).pluck();
    this.count = database.prepare<[]>('SELECT coalesce(max(idx), -1) + 1 FROM positions').pluck();
    const size = this.count.get() as number;
    const begin = known.find(
      (head) => head.size <= size && this.leafAt(head.size - 1) === head.leaf && head.root !== null,
    );
    this.tree = (begin === undefined ? null : treeOf(begin)) ?? EMPTY_TREE;
  }

  add(position: number, leafHash: Uint8Array): void {
    // While older leaves are still to be counted, the new ones are read from their rows like those.
    if (position === this.tree.size + this.waiting.length) this.waiting.push(leafHash);
  }

  rewind(position: number): void {
    this.waiting.length = Math.min(this.waiting.length, Math.max(0, position - this.tree.size));
  }

  /** Between two batches: everything that waits is committed. */
  committed(): void {
    if (this.waiting.length > WAITING_MAX) this.take();
  }

  /** The transaction is lost, and what waits with it; rows say what there is. */
  lost(): void {
    this.waiting = [];
  }

  /** The head now. Counts for at most so many milliseconds; the root is null while there is more to count. */
  head(budgetMs: number): StoreHead {
    this.take();
    const size = this.count.get() as number;
    const until = performance.now() + budgetMs;
    while (this.tree.size < size && performance.now() < until) {
      const end = Math.min(size, this.tree.size + PAGE_LEAVES);
      this.tree = withLeaves(this.tree, this.page.all(this.tree.size, end) as Uint8Array[]);
    }
    const leaf = this.leafAt(size - 1);
    return this.tree.size === size ? headOf(this.tree, leaf) : { size, root: null, leaf, nodes: [] };
  }

  /** Hash of the leaf at a position, null when there is none. */
  leafAt(position: number): string | null {
    const leaf = this.leaf.get(position) as Uint8Array | undefined;
    return leaf === undefined ? null : hex(leaf);
  }

  private take(): void {
    this.tree = withLeaves(this.tree, this.waiting);
    this.waiting = [];
  }
}
