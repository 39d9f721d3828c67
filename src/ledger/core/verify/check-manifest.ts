import { sha256Digest } from '../../../domain/digests/digests.js';
import { manifestNoteText, PARTS, type BundleManifest } from '../bundle/bundle-format.js';
import type { BundleParts } from '../bundle/container.js';
import { verifyNote } from '../notes/note-signing.js';
import { parseNote } from '../notes/signed-note.js';
import type { Findings } from './findings.js';
import { readText } from './read-parts.js';
import type { KeyBook } from './trust.js';

/** The manifest was signed by a key of this log, in its time. */
export function checkManifestNote(
  parts: BundleParts,
  manifest: BundleManifest,
  keys: KeyBook,
  findings: Findings,
): void {
  const part = PARTS.manifestNote;
  const text = readText(parts, part, findings);
  if (text === null) return;
  const note = parseNote(text);
  const digest = sha256Digest(parts.get(PARTS.manifest) ?? new Uint8Array(0));
  if (note === null || note.text !== manifestNoteText(manifest.origin, digest)) {
    findings.add('manifest_unsigned', 'The note is not about this manifest.', { part });
    return;
  }
  const { verified, invalid } = verifyNote(note, keys.logKeys());
  const signers = verified.map(({ key }) => key).filter(({ name }) => name === manifest.origin);
  if (signers.length === 0 || invalid.length > 0) {
    findings.add('manifest_unsigned', 'No trusted key of this log signed the manifest.', { part });
    return;
  }
  keys.inUse(signers, 'log', { time: manifest.createdAt }, findings, { part });
}
