import type { Digest } from '../../../domain/digests/digests.js';

/** The names, formats and shapes of an evidence bundle; `docs/evidence-bundle.md` is the same in words. */
export const BUNDLE_FORMAT = 'countersign/evidence-bundle/1';

export const PARTS = {
  manifest: 'manifest.json',
  manifestNote: 'manifest.note',
  entries: 'entries.ndjson',
  proof: 'proof.json',
  consistency: 'consistency.json',
  keys: 'keys.json',
  report: 'report.html',
  readme: 'readme.txt',
} as const;

/** `checkpoints/000001.txt` and on, in the order in which they were signed. */
export function checkpointPart(n: number): string {
  return `checkpoints/${String(n).padStart(6, '0')}.txt`;
}
export const CHECKPOINT_PART = /^checkpoints\/([0-9]{6})\.txt$/;

/** Anything that is named by its digest: policy sets, schemas, definitions, group snapshots, what approvers saw. */
export function objectPart(digest: string): string {
  return `objects/${digest.slice('sha256:'.length)}.json`;
}
export const OBJECT_PART = /^objects\/([0-9a-f]{64})\.json$/;

/** What the bundle is about. */
export type BundleScope =
  /** Every position from `from` up to `to`, without `to`: nothing is missing between them. */
  | { readonly kind: 'range'; readonly from: number; readonly to: number }
  /** Whole streams and whole units that answer a question, which is in words. */
  | { readonly kind: 'selection'; readonly of: string };

export interface PartEntry {
  readonly name: string;
  readonly bytes: number;
  readonly digest: Digest;
}

/** Named objects that no payload refers to, such as who was in which approver group. */
export interface Snapshot {
  readonly name: string;
  readonly digest: string;
}

export interface BundleManifest {
  readonly format: typeof BUNDLE_FORMAT;
  readonly origin: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** Whose entries are shown; null: those of all tenants. */
  readonly tenant: string | null;
  readonly scope: BundleScope;
  /** Leaves of the tree that `proof.json` leads to; that of the last checkpoint. */
  readonly treeSize: number;
  readonly snapshots: readonly Snapshot[];
  /** Every part but the manifest and its note, by name. */
  readonly parts: readonly PartEntry[];
}

/** When a key was in use. Sizes are inclusive and decide about checkpoints; times decide about the manifest and cosignatures. */
export interface KeyWindow {
  readonly fromSize: number;
  readonly toSize: number | null;
  /** ISO 8601 in UTC with milliseconds. */
  readonly fromTime: string;
  readonly toTime: string | null;
}

export interface KeyStatement extends KeyWindow {
  /** As `formatVerifierKey` writes it. */
  readonly key: string;
  readonly use: 'log' | 'witness';
}

export interface ConsistencyPart {
  readonly first: number;
  readonly second: number;
  /** RFC 6962 section 2.1.2, lower-case hexadecimal. */
  readonly hashes: readonly string[];
}

/** What the log's key signs: it cannot be taken for a checkpoint, whose second line is a number. */
export function manifestNoteText(origin: string, manifestDigest: string): string {
  return `${BUNDLE_FORMAT}\n${origin}\n${manifestDigest}\n`;
}
