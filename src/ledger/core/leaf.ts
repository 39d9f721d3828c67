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

/** What a leaf is the hash of: RFC 8785 canonical JSON of the envelope with `payloadCommitment` and without the payload. */
export function leafText(envelope: EventEnvelope, commitment: Uint8Array): string {
  return canonicalJson({ ...envelope, payloadCommitment: commitmentText(commitment) } as unknown as JsonObject);
}

/** The leaf hash of one governed event, 32 bytes: SHA-256(0x00 ‖ leaf text in UTF-8), RFC 6962 section 2.1. */
export function leafHash(envelope: EventEnvelope, commitment: Uint8Array): Uint8Array {
  return hash('sha256', LEAF_PREFIX + leafText(envelope, commitment), 'buffer');
}
