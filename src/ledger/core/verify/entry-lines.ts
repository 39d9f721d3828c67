import { PARTS, type BundleManifest } from '../bundle/bundle-format.js';
import type { Entry, EntryCheck } from './entry.js';
import type { Findings, Place } from './findings.js';
import { readEntry, type ReadEntry } from './read-entry.js';
import { textOf } from './read-parts.js';

/** The leaves of the bundle, by ascending position. */
export interface KnownLeaves {
  readonly positions: number[];
  readonly hashes: Uint8Array[];
  /** False when some line could not be read: then no root can be computed. */
  whole: boolean;
  hidden: number;
  withheld: number;
}

const NEWLINE = 0x0a;
const CHUNK_BYTES = 1 << 20;

/** Reads every line, checks its place, and hands the good ones to the rules. */
export function readEntries(
  bytes: Uint8Array,
  manifest: BundleManifest,
  checks: readonly EntryCheck[],
  findings: Findings,
): KnownLeaves {
  const leaves: KnownLeaves = { positions: [], hashes: [], whole: true, hidden: 0, withheld: 0 };
  const places = placeRule(manifest, findings);
  for (const line of linesOf(bytes)) {
    const { entry, problem } = line === null ? UNREADABLE : readEntry(line);
    if (problem !== null)
      findings.add(problem, PROBLEMS[problem], entry === null ? places.nextPlace() : placeIn(entry));
    if (entry === null) {
      leaves.whole = false;
      places.skip();
    } else if (places.accepts(entry)) keep(entry, leaves, checks);
  }
  places.end();
  for (const check of checks) check.end();
  return leaves;
}

const UNREADABLE: ReadEntry = { entry: null, problem: 'entry_malformed' };

function placeIn(entry: Entry): Place {
  const { position } = entry;
  return { part: PARTS.entries, position, eventId: entry.kind === 'hidden' ? undefined : entry.envelope.eventId };
}

const PROBLEMS = {
  entry_malformed: 'The line is not an entry in its one canonical form.',
  leaf_differs: 'The leaf hash that is stated is not that of the leaf.',
  payload_differs: 'Salt and payload are not what the leaf committed to.',
} as const;

function keep(entry: Entry, leaves: KnownLeaves, checks: readonly EntryCheck[]): void {
  leaves.positions.push(entry.position);
  leaves.hashes.push(entry.leafHash);
  if (entry.kind === 'hidden') leaves.hidden += 1;
  if (entry.kind === 'withheld') leaves.withheld += 1;
  for (const check of checks) check.see(entry);
}

interface PlaceRule {
  accepts(entry: Entry): boolean;
  /** A line that cannot be read takes a place as well. */
  skip(): void;
  /** Where in a range the line at hand should stand; a selection cannot tell. */
  nextPlace(): Place;
  end(): void;
}

/** Positions ascend, stay in the scope and the tree, and in a range none is missing. */
function placeRule({ scope, treeSize }: BundleManifest, findings: Findings): PlaceRule {
  const range = scope.kind === 'range' ? scope : null;
  const low = range?.from ?? 0;
  const high = Math.min(range?.to ?? treeSize, treeSize);
  let last = -1;
  let next = low;
  const missing = (position: number): void =>
    findings.add('position_missing', 'The range says that it holds this position.', { part: PARTS.entries, position });
  return {
    accepts(entry) {
      const { position } = entry;
      const place = placeIn(entry);
      if (position === last) findings.add('position_repeated', 'Two entries at one position.', place);
      else if (position < last) findings.add('position_out_of_order', 'Positions must ascend.', place);
      else if (position < low || position >= high) {
        findings.add('position_out_of_scope', 'The entry is outside of what the bundle says it holds.', place);
      } else {
        if (range !== null && position > next) missing(next);
        last = position;
        next = position + 1;
        return true;
      }
      return false;
    },
    skip() {
      next += 1;
    },
    nextPlace: () => (range === null ? { part: PARTS.entries } : { part: PARTS.entries, position: next }),
    end() {
      if (range !== null && next < range.to) missing(next);
    },
  };
}

/** Lines without their newline; null for one that is not UTF-8 or has no newline. */
function* linesOf(bytes: Uint8Array): Generator<string | null> {
  let at = 0;
  while (at < bytes.length) {
    const end = bytes.indexOf(NEWLINE, Math.min(at + CHUNK_BYTES, bytes.length - 1));
    const stop = end === -1 ? bytes.length : end + 1;
    yield* linesOfChunk(bytes.subarray(at, stop));
    at = stop;
  }
}

function* linesOfChunk(chunk: Uint8Array): Generator<string | null> {
  const text = textOf(chunk);
  if (text === null) {
    yield* linesOneByOne(chunk);
    return;
  }
  const lines = text.split('\n');
  const rest = lines.pop();
  yield* lines;
  if (rest !== '') yield null;
}

function* linesOneByOne(chunk: Uint8Array): Generator<string | null> {
  let at = 0;
  while (at < chunk.length) {
    const end = chunk.indexOf(NEWLINE, at);
    const stop = end === -1 ? chunk.length : end;
    yield end === -1 ? null : textOf(chunk.subarray(at, stop));
    at = stop + 1;
  }
}
