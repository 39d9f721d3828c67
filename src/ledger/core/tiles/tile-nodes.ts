import { HASH_BYTES } from '../sha256.js';
import { nodeHash } from '../tree/node-hash.js';
import type { NodeSource } from '../tree/node-source.js';
import { TILE_HEIGHT, TILE_WIDTH, type Tile } from './tile-path.js';
import { widthAt } from './tiles-of.js';

/** The bytes of a stored tile. Throws when it has none. */
export type ReadTile = (tile: Tile) => Uint8Array;

/**
 * Nodes out of tiles: the levels between those that tiles store are hashed, each node once per instance, so an inclusion proof costs at
 * most about 255 hashes per tile on its way. `size` says how wide the rightmost tiles are.
 */
export class TileNodes implements NodeSource {
  private readonly tiles = new Map<string, Uint8Array>();
  private readonly made = new Map<string, Uint8Array>();

  constructor(
    private readonly readTile: ReadTile,
    private readonly size: number,
  ) {}

  node(level: number, index: number): Uint8Array {
    const inTile = level % TILE_HEIGHT;
    if (inTile === 0) return this.stored(level / TILE_HEIGHT, index);
    const key = `${level}/${index}`;
    const known = this.made.get(key);
    if (known !== undefined) return known;
    const made = nodeHash(this.node(level - 1, 2 * index), this.node(level - 1, 2 * index + 1));
    this.made.set(key, made);
    return made;
  }

  private stored(level: number, index: number): Uint8Array {
    const at = (index % TILE_WIDTH) * HASH_BYTES;
    const bytes = this.tile(level, Math.floor(index / TILE_WIDTH));
    if (at + HASH_BYTES > bytes.length) throw new Error('the tree has no such node');
    return bytes.subarray(at, at + HASH_BYTES);
  }

  private tile(level: number, index: number): Uint8Array {
    const key = `${level}/${index}`;
    const known = this.tiles.get(key);
    if (known !== undefined) return known;
    const width = widthAt(level, index, this.size);
    if (width === 0) throw new Error('the tree has no such tile');
    const bytes = this.readTile({ level, index, width });
    if (bytes.length !== width * HASH_BYTES) throw new Error('a stored tile has another width than the tree');
    this.tiles.set(key, bytes);
    return bytes;
  }
}

/**
 * The tiles that a computation over the tree of `size` leaves will read, found by running it over empty ones: for whoever must fetch
 * them first, because reading is not synchronous.
 */
export function tilesReadBy(size: number, compute: (source: NodeSource) => unknown): Tile[] {
  const tiles: Tile[] = [];
  compute(
    new TileNodes((tile) => {
      tiles.push(tile);
      return new Uint8Array(tile.width * HASH_BYTES);
    }, size),
  );
  return tiles;
}
