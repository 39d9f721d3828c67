import { describe, expect, it } from '@jest/globals';
import { EMPTY_TREE, withLeaves } from '../ledger/core/compact-tree.js';
import { acceptedWord, compareWithNote, markOfCopy, readHold, type Opened } from './hold.js';
import { headOf, readHead, type StoreHead } from './store-head.js';

const LEAF = 'ab'.repeat(32);
const head = (size: number, leaf: string = LEAF): StoreHead =>
  headOf(
    withLeaves(
      EMPTY_TREE,
      Array.from({ length: size }, () => Buffer.from(leaf, 'hex')),
    ),
    size === 0 ? null : leaf,
  );
const note = (size: number, more: { closed?: boolean; leaf?: string } = {}) => ({
  ...head(size, more.leaf),
  closed: more.closed ?? false,
  at: '2031-01-01T00:00:00.000Z',
});
const opened = (more: Partial<Opened>): Opened => ({
  note: note(5),
  headKept: '1',
  headAccepted: '',
  size: 5,
  leafAtNote: LEAF,
  ...more,
});

describe('a store beside the note of its head', () => {
  it.each<[string, Partial<Opened>, string | null]>([
    ['as noted', {}, null],
    ['ahead of the note, which is never quite new', { size: 9 }, null],
    ['behind', { size: 4, leafAtNote: null }, 'behind'],
    ['with another leaf where the note ends', { leafAtNote: 'cd'.repeat(32) }, 'different'],
    ['longer, but with another leaf there', { size: 9, leafAtNote: 'cd'.repeat(32) }, 'different'],
    ['empty, and noted as empty', { note: note(0), size: 0, leafAtNote: null }, null],
    ['new, without a note', { note: 'missing', headKept: null, headAccepted: null, size: 0, leafAtNote: null }, null],
    ['of an older program, without a note', { note: 'missing', headKept: null, headAccepted: null }, null],
    ['without the note that it had', { note: 'missing' }, 'head_missing'],
    ['with a note that cannot be read', { note: 'unreadable' }, 'head_unreadable'],
    ['behind a note that was given up', { size: 4, leafAtNote: null, headAccepted: acceptedWord(head(5)) }, null],
    [
      'behind another note than was given up',
      { size: 4, leafAtNote: null, headAccepted: acceptedWord(head(6)) },
      'behind',
    ],
    ['without a note, which was accepted', { note: 'missing', headAccepted: acceptedWord(null) }, null],
    ['with an unreadable note, which was accepted', { note: 'unreadable', headAccepted: acceptedWord(null) }, null],
  ])('%s is %3$s', (_, more, finding) => {
    expect(compareWithNote(opened(more)).finding).toBe(finding);
  });

  it.each<[string, Partial<Opened>, boolean]>([
    ['closed in order with exactly this head', { note: note(5, { closed: true }) }, true],
    ['not closed in order', {}, false],
    ['closed in order and longer since', { note: note(5, { closed: true }), size: 6 }, false],
    ['without a note', { note: 'missing' }, false],
  ])('is known to be complete only when it was %s', (_, more, complete) => {
    expect(compareWithNote(opened(more)).complete).toBe(complete);
  });
});

describe('a hold', () => {
  it('comes back as it was written', () => {
    const mark = markOfCopy(head(3), '2031-01-01T00:00:00.000Z');
    expect(readHold(JSON.stringify(mark))).toEqual(mark);
  });

  it.each([null, ''])('is none without a fact (%j)', (text) => {
    expect(readHold(text)).toBeNull();
  });

  it.each(['{', '{}', '{"reason":"tired"}', '{"reason":"behind","head":{"size":1}}', '[]'])(
    'that cannot be read holds all the same: %s',
    (text) => {
      expect(readHold(text)).toMatchObject({ reason: 'restored', since: null, complete: false });
    },
  );
});

describe('the head of a store', () => {
  it('is read as it was written', () => {
    for (const size of [0, 1, 2, 7, 8]) {
      const written = head(size);
      expect(readHead(JSON.parse(JSON.stringify(written)))).toEqual(written);
    }
  });

  it.each<[string, object]>([
    ['another root than its nodes have', { root: 'cd'.repeat(32) }],
    ['too few nodes', { nodes: [] }],
    ['no leaf although it is not empty', { leaf: null }],
    ['a negative size', { size: -1 }],
    ['a hash in upper case', { leaf: LEAF.toUpperCase() }],
  ])('is none with %s', (_, more) => {
    expect(() => readHead({ ...head(3), ...more })).toThrow();
  });
});
