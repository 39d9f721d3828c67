import { HASH_BYTES } from '../sha256.js';
import { assertCount, type NodeSource } from '../tree/node-source.js';
import { TILE_HEIGHT, TILE_WIDTH, type Tile } from './tile-path.js';

/** How many hashes a level has in the tree of `size` leaves: those of its complete subtrees. */
function hashesAt(level: number, size: number): number {
  return Math.floor(size / TILE_WIDTH ** level);
}

/** The width in which a tile stands in the tree of `size` leaves; 0 when it has none of it. */
export function widthAt(level: number | 'entries', index: number, size: number): number {
  const hashes = hashesAt(level === 'entries' ? 0 : level, size) - index * TILE_WIDTH;
  return Math.max(0, Math.min(TILE_WIDTH, hashes));
}

/** Every tile of hashes of the tree of `size` leaves, full and partial, from the leaves up and from left to right. */
export function tilesOf(size: number): Tile[] {
  return tilesBetween(0, size);
}

/**
 * The tiles of hashes that the tree of `to` leaves has and that of `from` leaves has not: what is to be written when a checkpoint of
 * `to` follows one of `from`. Partial tiles of the older tree stay valid and may be deleted once the full one stands.
 */
export function tilesBetween(from: number, to: number): Tile[] {
  assertCount(from);
  assertCount(to);
  const tiles: Tile[] = [];
  for (let level = 0; hashesAt(level, to) > 0; level += 1) tiles.push(...grown(level, from, to));
  return tiles;
}

/** The bundles of entries that the tree of `to` leaves has and that of `from` leaves has not. */
export function entryTilesBetween(from: number, to: number): Tile[] {
  assertCount(from);
  assertCount(to);
  return grown(0, from, to).map((tile) => ({ ...tile, level: 'entries' as const }));
}

function grown(level: number, from: number, to: number): Tile[] {
  const [before, after] = [hashesAt(level, from), hashesAt(level, to)];
  if (after <= before) return [];
  const tiles: Tile[] = [];
  for (let index = Math.floor(before / TILE_WIDTH); index * TILE_WIDTH < after; index += 1) {
    tiles.push({ level, index, width: widthAt(level, index, to) });
  }
  return tiles;
}

/** The bytes of a tile of hashes: 32 for each. */
export function tileContent(source: NodeSource, { level, index, width }: Tile): Uint8Array {
  if (level === 'entries') throw new Error('entries are no hashes');
  const bytes = new Uint8Array(width * HASH_BYTES);
  for (let at = 0; at < width; at += 1) {
    bytes.set(source.node(level * TILE_HEIGHT, index * TILE_WIDTH + at), at * HASH_BYTES);
  }
  return bytes;
}
