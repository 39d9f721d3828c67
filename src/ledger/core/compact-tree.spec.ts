import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { EMPTY_TREE, assertTree, rootOf, withLeaves } from './compact-tree.js';

const sha256 = (...parts: readonly Uint8Array[]): Uint8Array =>
  parts.reduce((digest, part) => digest.update(part), createHash('sha256')).digest();
const leafOf = (hex: string): Uint8Array => sha256(Uint8Array.of(0), Buffer.from(hex, 'hex'));
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** The eight entries that RFC 6962 implementations share as vectors, and the roots of the first n of them. */
const ENTRIES = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'];
const ROOTS = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

/** Section 2.1 as it is written. */
function definition(leaves: readonly Uint8Array[]): Uint8Array {
  const [only] = leaves;
  if (only === undefined) return sha256();
  if (leaves.length === 1) return only;
  let k = 1;
  while (k * 2 < leaves.length) k *= 2;
  return sha256(Uint8Array.of(1), definition(leaves.slice(0, k)), definition(leaves.slice(k)));
}

describe('the compact tree', () => {
  it('has the roots that RFC 6962 implementations agree on', () => {
    const roots = ROOTS.map((_, size) => hex(rootOf(withLeaves(EMPTY_TREE, ENTRIES.slice(0, size).map(leafOf)))));
    expect(roots).toEqual(ROOTS);
  });

  it('has the root of the definition, however the leaves come', () => {
    const leaf = fc.uint8Array({ minLength: 32, maxLength: 32 });
    fc.assert(
      fc.property(fc.array(leaf, { maxLength: 70 }), fc.nat(70), (leaves, cut) => {
        const tree = withLeaves(withLeaves(EMPTY_TREE, leaves.slice(0, cut)), leaves.slice(cut));
        assertTree(tree);
        expect(tree.size).toBe(leaves.length);
        expect(hex(rootOf(tree))).toBe(hex(definition(leaves)));
      }),
    );
  });

  it('leaves the tree it began with as it was', () => {
    const before = withLeaves(EMPTY_TREE, ENTRIES.slice(0, 3).map(leafOf));
    withLeaves(before, ENTRIES.slice(3).map(leafOf));
    expect(hex(rootOf(before))).toBe(ROOTS[3]);
  });

  it.each([
    ['too few nodes', { size: 3, nodes: [leafOf('00')] }],
    ['too many', { size: 2, nodes: [leafOf('00'), leafOf('10')] }],
    ['a short node', { size: 1, nodes: [new Uint8Array(31)] }],
    ['no size', { size: -1, nodes: [] }],
  ])('is no tree with %s', (_, tree) => {
    expect(() => assertTree(tree)).toThrow('not those of a tree');
  });
});
