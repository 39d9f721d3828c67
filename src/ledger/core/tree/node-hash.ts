import { hash } from 'node:crypto';

/** RFC 6962 section 2.1: nodes are hashed behind 0x01, leaves behind 0x00, so that neither passes for the other. */
const NODE_PREFIX = 1;
export const HASH_BYTES = 32;

/** The hash of a node over its two children, 32 bytes each: SHA-256(0x01 ‖ left ‖ right). */
export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(1 + 2 * HASH_BYTES);
  bytes[0] = NODE_PREFIX;
  bytes.set(left, 1);
  bytes.set(right, 1 + HASH_BYTES);
  return hash('sha256', bytes, 'buffer');
}

/** The root of a tree without leaves: SHA-256 of nothing. */
export function emptyRoot(): Uint8Array {
  return hash('sha256', '', 'buffer');
}

export function sameHash(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === HASH_BYTES && right.length === HASH_BYTES && left.every((byte, at) => byte === right[at]);
}
