import { HASH_BYTES, sha256 } from '../sha256.js';

/** RFC 6962 section 2.1: nodes are hashed behind 0x01, leaves behind 0x00, so that neither passes for the other. */
const NODE_PREFIX = 1;

/** Nothing waits between filling and hashing it, so one is enough. */
const scratch = new Uint8Array(1 + 2 * HASH_BYTES);
scratch[0] = NODE_PREFIX;

/** The hash of a node over its two children, 32 bytes each: SHA-256(0x01 ‖ left ‖ right). Throws a plain `Error` for other lengths. */
export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  if (left.length !== HASH_BYTES || right.length !== HASH_BYTES)
    throw new Error('the children of a node have 32 bytes');
  scratch.set(left, 1);
  scratch.set(right, 1 + HASH_BYTES);
  return sha256(scratch);
}

/** The root of a tree without leaves: SHA-256 of nothing. */
export function emptyRoot(): Uint8Array {
  return sha256('');
}

export function sameHash(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === HASH_BYTES && right.length === HASH_BYTES && left.every((byte, at) => byte === right[at]);
}

export const isHash = ({ length }: Uint8Array): boolean => length === HASH_BYTES;
