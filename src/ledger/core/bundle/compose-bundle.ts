import { sha256Digest } from '../../../domain/digests/digests.js';
import { canonicalBytes } from '../../../domain/json/canonical-json.js';
import type { JsonValue } from '../../../domain/json/json-value.js';
import { signNote, type NoteSigner } from '../notes/note-signing.js';
import {
  BUNDLE_FORMAT,
  checkpointPart,
  manifestNoteText,
  objectPart,
  PARTS,
  type BundleManifest,
  type BundleScope,
  type ConsistencyPart,
  type KeyStatement,
  type Snapshot,
} from './bundle-format.js';
import { hexOf } from './entry-line.js';

/** Everything that goes into a bundle, as whoever exports has it. */
export interface BundleContents {
  readonly origin: string;
  readonly createdAt: string;
  readonly tenant: string | null;
  readonly scope: BundleScope;
  readonly treeSize: number;
  /** The lines of `entryLine`, one behind the other, by ascending position. */
  readonly entries: Uint8Array;
  /** `coverProof` of the positions of the entries. */
  readonly proof: readonly Uint8Array[];
  /** Notes of checkpoints with their cosignatures, as they were signed; the last is of `treeSize`. */
  readonly checkpoints: readonly string[];
  readonly consistency: readonly ConsistencyPart[];
  readonly keys: readonly KeyStatement[];
  /** Canonical JSON of whatever is named by a digest. */
  readonly objects: readonly Uint8Array[];
  readonly snapshots: readonly Snapshot[];
  readonly report: string;
  readonly readme: string;
}

/** The parts of the bundle, manifest and signature included: what `writeContainer` takes. */
export function composeBundle(contents: BundleContents, signer: NoteSigner): Map<string, Uint8Array> {
  const parts = new Map<string, Uint8Array>([
    [PARTS.entries, contents.entries],
    [PARTS.proof, json({ hashes: contents.proof.map(hexOf) })],
    [PARTS.consistency, json(contents.consistency)],
    [PARTS.keys, json(contents.keys)],
    [PARTS.report, utf8(contents.report)],
    [PARTS.readme, utf8(contents.readme)],
  ]);
  contents.checkpoints.forEach((note, at) => parts.set(checkpointPart(at + 1), utf8(note)));
  for (const object of contents.objects) parts.set(objectPart(sha256Digest(object)), object);
  return signedParts(manifestOf(contents, parts), parts, signer);
}

/** The parts with this manifest and its signature. */
export function signedParts(
  manifest: BundleManifest,
  parts: ReadonlyMap<string, Uint8Array>,
  signer: NoteSigner,
): Map<string, Uint8Array> {
  const bytes = json(manifest);
  const note = signNote(manifestNoteText(manifest.origin, sha256Digest(bytes)), [signer]);
  return new Map([...parts, [PARTS.manifest, bytes], [PARTS.manifestNote, utf8(note)]]);
}

/** The manifest that lists these parts. */
export function manifestOf(
  about: Omit<BundleManifest, 'format' | 'parts'>,
  parts: ReadonlyMap<string, Uint8Array>,
): BundleManifest {
  const { origin, createdAt, tenant, scope, treeSize, snapshots } = about;
  const listed = [...parts]
    .filter(([name]) => name !== PARTS.manifest && name !== PARTS.manifestNote)
    .map(([name, content]) => ({ name, bytes: content.length, digest: sha256Digest(content) }))
    .sort((left, right) => (left.name < right.name ? -1 : 1));
  return { format: BUNDLE_FORMAT, origin, createdAt, tenant, scope, treeSize, snapshots, parts: listed };
}

const UTF8 = new TextEncoder();
const utf8 = (text: string): Uint8Array => UTF8.encode(text);
const json = (value: unknown): Uint8Array => canonicalBytes(value as JsonValue);
