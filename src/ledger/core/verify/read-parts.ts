import { sha256Digest } from '../../../domain/digests/digests.js';
import { canonicalJson } from '../../../domain/json/canonical-json.js';
import type { JsonValue } from '../../../domain/json/json-value.js';
import { parseStrictJson } from '../../../domain/json/strict-json.js';
import { CHECKPOINT_PART, OBJECT_PART, PARTS, type BundleManifest } from '../bundle/bundle-format.js';
import type { BundleParts } from '../bundle/container.js';
import { unsafeLine } from '../text/plain-text.js';
import type { Findings } from './findings.js';

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const LIMITS = { bytesMax: 0x1fffffff, depthMax: 64, keysMax: 0x1fffffff, stringUnitsMax: 0x1fffffff };

/** Null when the bytes are not UTF-8. */
export function textOf(bytes: Uint8Array): string | null {
  try {
    return UTF8.decode(bytes);
  } catch {
    return null;
  }
}

/** The value of canonical JSON, `undefined` when the bytes are not exactly that. */
export function canonicalValue(bytes: Uint8Array): JsonValue | undefined {
  const text = textOf(bytes);
  const read = text === null ? null : parseStrictJson(text, LIMITS);
  return read?.ok === true && canonicalJson(read.value) === text ? read.value : undefined;
}

/** A part in text, or null with a finding. */
export function readText(parts: BundleParts, name: string, findings: Findings): string | null {
  const bytes = parts.get(name);
  if (bytes === undefined) {
    findings.add('part_missing', 'A part that every bundle has is missing.', { part: name });
    return null;
  }
  const text = textOf(bytes);
  if (text === null) findings.add('part_malformed', 'The part is not UTF-8.', { part: name });
  return text;
}

/** A part in canonical JSON of the shape that `read` knows, or null with a finding. */
export function readJson<T>(
  parts: BundleParts,
  name: string,
  findings: Findings,
  read: (value: JsonValue) => T | null,
): T | null {
  const bytes = parts.get(name);
  if (bytes === undefined) {
    findings.add('part_missing', 'A part that every bundle has is missing.', { part: name });
    return null;
  }
  const value = canonicalValue(bytes);
  const shaped = value === undefined ? null : read(value);
  if (shaped === null) findings.add('part_malformed', 'The part is not what it must be.', { part: name });
  return shaped;
}

/** Each part is listed with its length and digest, and nothing else is there. */
export function checkParts(parts: BundleParts, manifest: BundleManifest, findings: Findings): void {
  const listed = new Set(manifest.parts.map(({ name }) => name));
  for (const { name, bytes, digest } of manifest.parts) {
    const content = parts.get(name);
    if (content === undefined)
      findings.add('part_missing', 'The manifest lists a part that is not there.', { part: name });
    else if (content.length !== bytes || sha256Digest(content) !== digest) {
      findings.add('part_changed', 'The part is not the one that the manifest was signed for.', { part: name });
    }
    if (!isKnown(name)) findings.add('part_unknown', 'Nobody knows what this part is for.', { part: name });
  }
  for (const name of parts.keys()) {
    const isOwn = name === PARTS.manifest || name === PARTS.manifestNote;
    if (!isOwn && !listed.has(name))
      findings.add('part_unknown', 'The manifest does not list this part.', { part: name });
  }
}

const FIXED: ReadonlySet<string> = new Set([
  PARTS.entries,
  PARTS.proof,
  PARTS.consistency,
  PARTS.keys,
  PARTS.report,
  PARTS.readme,
]);

function isKnown(name: string): boolean {
  return FIXED.has(name) || CHECKPOINT_PART.test(name) || OBJECT_PART.test(name);
}

/** What people read must not act on the terminal or browser it is read in. */
export function checkTexts(parts: BundleParts, findings: Findings): void {
  for (const part of [PARTS.readme, PARTS.report]) {
    const line = unsafeLine(readText(parts, part, findings) ?? '');
    if (line === -1) continue;
    findings.add('text_unsafe', `Line ${line + 1} holds a character that hides or moves text.`, { part });
  }
}
