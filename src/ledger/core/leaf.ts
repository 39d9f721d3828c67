import { hash } from 'node:crypto';
import type { EventEnvelope } from '../../domain/events/envelope.js';
import { canonicalJson } from '../../domain/json/canonical-json.js';
import type { JsonObject } from '../../domain/json/json-value.js';

/** U+0000 is the single byte 0x00 in UTF-8: RFC 6962 section 2.1 puts it in front of every leaf, and 0x01 in front of every node. */
const LEAF_PREFIX = '\u0000';

/**
 * The salted commitment to a payload: SHA-256(salt ‖ canonical payload in UTF-8), 32 bytes. Without the salt it says nothing about
 * the payload, so destroying salt and key erases the payload while every proof still verifies.
 */
export function payloadCommitment(salt: Uint8Array, canonicalPayload: Uint8Array): Uint8Array {
  const salted = new Uint8Array(salt.length + canonicalPayload.length);
  salted.set(salt);
  salted.set(canonicalPayload, salt.length);
  return hash('sha256', salted, 'buffer');
}

/** How a commitment is written inside the leaf: `sha256:` and 64 lower-case hexadecimal digits. */
export function commitmentText(commitment: Uint8Array): string {
  if (commitment.length !== 32) throw new Error('a payload commitment has 32 bytes');
  return `sha256:${Buffer.from(commitment.buffer, commitment.byteOffset, commitment.length).toString('hex')}`;
}

/**
 * What a leaf is the hash of: RFC 8785 canonical JSON of the envelope with `payloadCommitment` and without the payload. Throws a plain
 * `Error` when the envelope is not JSON.
 */
export function leafText(envelope: EventEnvelope, commitment: Uint8Array): string {
  const leaf = { ...envelope, payloadCommitment: commitmentText(commitment) };
  return flatText(leaf) ?? canonicalJson(leaf as unknown as JsonObject);
}

/**
 * The canonical text of an object whose members are texts, whole numbers, booleans and null, and one actor; null when it is not such
 * an object or when its text needs care. Every event is hashed while others wait for it, and for these objects the built-in writer
 * gives the same text in a quarter of the time: it only lacks the order of the keys and the refusal of half a surrogate pair.
 */
function flatText(leaf: Readonly<Record<string, unknown>>): string | null {
  const ordered: Record<string, unknown> = {};
  for (const key of Object.keys(leaf).sort()) {
    const value = leaf[key];
    if (key === 'actor') ordered[key] = orderedActor(value as Actor);
    else if (typeof value === 'string' || typeof value === 'boolean' || value === null) ordered[key] = value;
    else if (Number.isSafeInteger(value)) ordered[key] = value;
    else return null;
  }
  const text = JSON.stringify(ordered);
  return text.includes('\\ud') ? null : text;
}
/** The leaf hash of one governed event, 32 bytes: SHA-256(0x00 ‖ leaf text in UTF-8), RFC 6962 section 2.1. */
export function leafHash(envelope: EventEnvelope, commitment: Uint8Array): Uint8Array {
  return hash('sha256', LEAF_PREFIX + leafText(envelope, commitment), 'buffer');
}
