import { HOLD_REASONS, type HoldReason } from '../domain/events/installation-events.js';
import type { HeadNote } from './head-note.js';
import { readHead, type StoreHead } from './store-head.js';

/** Facts of `meta`. A value that is empty stands for no fact: rows of `meta` are never deleted. */
export const META_HOLD = 'restore/hold';
/** A note was written once: from then on a missing one is a finding. */
export const META_HEAD_KEPT = 'restore/head_kept';
/** Size and root of the note that an operator has given up by accepting an older store. */
export const META_HEAD_ACCEPTED = 'restore/head_accepted';

/** Why nothing is sent from this store until an operator accepts it. */
export interface Hold {
  readonly reason: HoldReason;
  /** ISO 8601: since when a process has known; null in a copy that none has opened yet. */
  readonly since: string | null;
  /** The store as it was found. */
  readonly head: StoreHead;
  /** The highest size and root that were known outside; null when nothing was. */
  readonly knownSize: number | null;
  readonly knownRoot: string | null;
  /** ISO 8601: when the copy was made that this store is; null when it is none. */
  readonly backupAt: string | null;
  /** True when it is known that nothing was ever recorded behind `head`: nothing has been lost. */
  readonly complete: boolean;
}

/** A hold as it is written in `meta`, or null. What cannot be read holds too: it was written by somebody for a reason. */
export function readHold(text: string | null): Hold | null {
  if (text === null || text === '') return null;
  try {
    const hold = JSON.parse(text) as Hold;
    if (!HOLD_REASONS.includes(hold.reason)) return UNREADABLE;
    return { ...hold, head: readHead(hold.head) };
  } catch {
    return UNREADABLE;
  }
}

const NOTHING: StoreHead = { size: 0, root: null, leaf: null, nodes: [] };
const UNREADABLE: Hold = {
  reason: 'restored',
  since: null,
  head: NOTHING,
  knownSize: null,
  knownRoot: null,
  backupAt: null,
  complete: false,
};

/** The mark that every copy carries from the moment it exists, however it is put in place. */
export function markOfCopy(head: StoreHead, backupAt: string): Hold {
  return {
    reason: 'restored',
    since: null,
    head,
    knownSize: null,
    knownRoot: null,
    backupAt,
    complete: false,
  };
}

/** What is known when a store is opened. */
export interface Opened {
  readonly note: HeadNote | 'missing' | 'unreadable';
  /** `META_HEAD_KEPT` and `META_HEAD_ACCEPTED`. */
  readonly headKept: string | null;
  readonly headAccepted: string | null;
  readonly size: number;
  /** Hash of the leaf at the note's last position, null when the store has none there. */
  readonly leafAtNote: string | null;
}

export interface Comparison {
  readonly finding: HoldReason | null;
  readonly complete: boolean;
}

/**
 * Compares a store with the note outside it. Sizes and the last noted leaf are compared: a store that is behind or went another way
 * is found however it came to be, except within the events since the note was last written. Rows that were changed below that leaf
 * are not this function's to find.
 */
export function compareWithNote({ note, headKept, headAccepted, size, leafAtNote }: Opened): Comparison {
  if (acceptedWord(typeof note === 'string' ? null : note) === headAccepted) return { finding: null, complete: false };
  if (note === 'unreadable') return { finding: 'head_unreadable', complete: false };
  if (note === 'missing') {
    // A store that no note was ever written for: a new one, or one of an older program.
    return { finding: headKept === null ? null : 'head_missing', complete: false };
  }
  if (note.size > size) return { finding: 'behind', complete: false };
  if (leafAtNote !== note.leaf) return { finding: 'different', complete: false };
  return { finding: null, complete: note.closed && note.size === size };
}

/** How an accepted note is remembered; null is none that can be read. */
export const acceptedWord = (note: Pick<StoreHead, 'size' | 'leaf'> | null): string =>
  note === null ? 'none' : `${note.size}/${note.leaf ?? ''}`;
