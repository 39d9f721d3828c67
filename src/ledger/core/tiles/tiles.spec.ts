import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { consistencyProof } from '../tree/consistency.js';
import { includes, inclusionProof } from '../tree/inclusion.js';
import type { NodeSource } from '../tree/node-source.js';
import { LeafNodes, rootAt } from '../tree/node-source.js';
import { entryBundle, readEntryBundle } from './entry-bundle.js';
import { TileNodes, tilesReadBy } from './tile-nodes.js';
import { parseTilePath, tilePath, type Tile } from './tile-path.js';
import { entryTilesBetween, tileContent, tilesBetween, tilesOf } from './tiles-of.js';

const SIZE = 70_000;
const leaves = Array.from({ length: SIZE }, (_, index) => createHash('sha256').update(`\0${index}`).digest());
const tree = new LeafNodes(leaves);

/** Tiles as a file server would hold them. */
function stored(size: number): Map<string, Uint8Array> {
  return new Map(tilesOf(size).map((tile) => [tilePath(tile), tileContent(tree, tile)]));
}

function reader(tiles: ReadonlyMap<string, Uint8Array>): (tile: Tile) => Uint8Array {
  return (tile) => {
    const bytes = tiles.get(tilePath(tile));
    if (bytes === undefined) throw new Error(`no ${tilePath(tile)}`);
    return bytes;
  };
}

describe('the path of a tile', () => {
  it.each([
    [{ level: 0, index: 0, width: 256 }, 'tile/0/000'],
    [{ level: 0, index: 273, width: 112 }, 'tile/0/273.p/112'],
    [{ level: 1, index: 1_234_067, width: 256 }, 'tile/1/x001/x234/067'],
    [{ level: 63, index: 1_000, width: 1 }, 'tile/63/x001/000.p/1'],
    [{ level: 'entries', index: 999, width: 255 }, 'tile/entries/999.p/255'],
  ] as const)('of %j is %s', (tile, path) => {
    expect(tilePath(tile)).toBe(path);
    expect(parseTilePath(path)).toEqual(tile);
  });

  it.each([
    'tile/0/0',
    'tile/00/000',
    'tile/64/000',
    'tile/0/x000/001',
    'tile/0/x001/67',
    'tile/0/001/x067',
    'tile/0/000.p/0',
    'tile/0/000.p/256',
    'tile/0/000.p/01',
    'tile/0/000/',
    'tile/0/../000',
    '/tile/0/000',
    'tile/-1/000',
    'tile/entry/000',
    'tile/0/000\n',
    'tile/0/x999/x999/x999/x999/x999/x999/999',
  ])('is not %j', (path) => {
    expect(parseTilePath(path)).toBeNull();
  });
});

describe('the tiles of a tree', () => {
  it('of 70,000 leaves are those of the specification', () => {
    const tiles = tilesOf(SIZE);
    const full = (level: number): number => tiles.filter((tile) => tile.level === level && tile.width === 256).length;
    expect([full(0), full(1), full(2)]).toEqual([273, 1, 0]);
    const partial = tiles.filter(({ width }) => width < 256).map(tilePath);
    expect(partial).toEqual(['tile/0/273.p/112', 'tile/1/001.p/17', 'tile/2/000.p/1']);
    expect(tilesOf(256).map(tilePath)).toEqual(['tile/0/000', 'tile/1/000.p/1']);
    expect(tilesOf(0)).toEqual([]);
  });

  it('are enough for every proof, and nothing is read besides', () => {
    const tiles = stored(SIZE);
    for (const index of [0, 255, 256, 65_535, 65_536, SIZE - 1]) {
      const source = new TileNodes(reader(tiles), SIZE);
      const proof = inclusionProof(source, index, SIZE);
      expect(proof).toEqual(inclusionProof(tree, index, SIZE));
      const root = rootAt(source, SIZE);
      expect(includes({ index, size: SIZE, leafHash: leaves[index] as Uint8Array, proof, root })).toBe(true);
    }
    const source = new TileNodes(reader(tiles), SIZE);
    expect(consistencyProof(source, 65_537, SIZE)).toEqual(consistencyProof(tree, 65_537, SIZE));
  });

  it('that a proof reads can be told before', () => {
    const compute = (source: NodeSource): unknown => inclusionProof(source, 1_000, SIZE);
    const needed = tilesReadBy(SIZE, compute).map(tilePath);
    expect(needed.toSorted()).toEqual(['tile/0/003', 'tile/0/273.p/112', 'tile/1/000', 'tile/1/001.p/17']);
    const some = new Map([...stored(SIZE)].filter(([path]) => needed.includes(path)));
    expect(compute(new TileNodes(reader(some), SIZE))).toEqual(compute(tree));
  });

  it('that are new when it grows are those that it did not have, and none is missing', () => {
    const two = fc.tuple(fc.nat(SIZE), fc.nat(SIZE)).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);
    fc.assert(
      fc.property(two, ([from, to]) => {
        const before = new Set(tilesOf(from).map(tilePath));
        const expected = tilesOf(to)
          .map(tilePath)
          .filter((path) => !before.has(path));
        expect(tilesBetween(from, to).map(tilePath)).toEqual(expected);
        const entries = expected
          .filter((path) => path.startsWith('tile/0/'))
          .map((path) => path.replace('/0/', '/entries/'));
        expect(entryTilesBetween(from, to).map(tilePath)).toEqual(entries);
      }),
      { numRuns: 40 },
    );
  });

  it('are refused in another width, and there are none of a node the tree has not', () => {
    const source = new TileNodes(() => new Uint8Array(32), 300);
    expect(() => source.node(0, 299)).toThrow('another width');
    expect(() => new TileNodes(() => new Uint8Array(0), 300).node(0, 600)).toThrow('no such tile');
    expect(() => new TileNodes(() => new Uint8Array(44 * 32), 300).node(0, 300)).toThrow('no such node');
    expect(() => tileContent(tree, { level: 'entries', index: 0, width: 1 })).toThrow('no hashes');
  });
});

describe('a bundle of entries', () => {
  it('reads what it wrote, and nothing that is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 600 }), { maxLength: 6 }), (entries) => {
        const bytes = entryBundle(entries);
        expect(readEntryBundle(bytes)?.map((entry) => [...entry])).toEqual(entries.map((entry) => [...entry]));
        if (bytes.length > 0) {
          const cut = readEntryBundle(bytes.subarray(0, -1));
          expect(cut === null || cut.length < entries.length).toBe(true);
        }
      }),
    );
    expect([...entryBundle([Uint8Array.of(7, 8)])]).toEqual([0, 2, 7, 8]);
    expect(readEntryBundle(Uint8Array.of(0))).toBeNull();
  });

  it('holds an entry of 65,535 bytes and none that is longer', () => {
    expect(entryBundle([new Uint8Array(65_535)])).toHaveLength(65_537);
    expect(() => entryBundle([new Uint8Array(65_536)])).toThrow('at most 65535 bytes');
  });
});
