import { createPublicKey, hash, verify, type KeyObject } from 'node:crypto';
import { fromBase64, toBase64 } from './base64.js';

/** C2SP signed-note, signature types: the two that are used here. */
export const KEY_TYPES = { ed25519: 0x01, 'cosignature/v1': 0x04 } as const;
export type KeyType = keyof typeof KEY_TYPES;

/** A public key as people hand it on. `name` and `keyId` together say which key made a signature. */
export interface VerifierKey {
  readonly name: string;
  /** 32 bits: an identifier, no proof of anything. */
  readonly keyId: number;
  readonly type: KeyType;
  /** Ed25519, 32 bytes (RFC 8032). */
  readonly publicKey: Uint8Array;
}

/** RFC 8410: what stands in front of a raw Ed25519 key in a SubjectPublicKeyInfo. */
const SPKI_PREFIX = Uint8Array.from([0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00]);
const KEY_BYTES = 32;
const HEX_ID = /^[0-9a-f]{8}$/;

const keyObjects = new WeakMap<VerifierKey, KeyObject>();

/** Non-empty, no Unicode space, no plus; and no control character, which no note may hold. */
export function isKeyName(name: string): boolean {
  return name !== '' && !/[\s+\u0085\u0000-\u001f\u007f]/u.test(name) && !/\p{Cs}/u.test(name);
}

/** The first four bytes of SHA-256(name ‖ 0x0A ‖ type ‖ public key), big-endian. */
export function verifierKey(name: string, type: KeyType, publicKey: Uint8Array): VerifierKey {
  if (!isKeyName(name)) throw new Error('not the name of a key');
  if (publicKey.length !== KEY_BYTES) throw new Error('an Ed25519 key has 32 bytes');
  return { name, type, publicKey, keyId: keyIdOf(name, Uint8Array.of(KEY_TYPES[type], ...publicKey)) };
}

function keyIdOf(name: string, typed: Uint8Array): number {
  return hash('sha256', Buffer.concat([Buffer.from(`${name}\n`, 'utf8'), typed]), 'buffer').readUInt32BE(0);
}

/** `<name>+<key id in eight hexadecimal digits>+<base64 of type and key>`. */
export function formatVerifierKey({ name, keyId, type, publicKey }: VerifierKey): string {
  return `${name}+${hexId(keyId)}+${toBase64(Uint8Array.of(KEY_TYPES[type], ...publicKey))}`;
}

/** Null for a text that is no such key, whose id is not its own, or whose type is another than ours. */
export function parseVerifierKey(text: string): VerifierKey | null {
  const [name, id, key64, ...more] = splitKey(text);
  if (name === undefined || id === undefined || key64 === undefined || more.length > 0) return null;
  const typed = fromBase64(key64);
  if (!isKeyName(name) || !HEX_ID.test(id) || typed === null || typed.length !== KEY_BYTES + 1) return null;
  const type = (Object.keys(KEY_TYPES) as KeyType[]).find((known) => KEY_TYPES[known] === typed[0]);
  if (type === undefined || hexId(keyIdOf(name, typed)) !== id) return null;
  return verifierKey(name, type, typed.subarray(1));
}

/** Base64 may hold a plus as well: only the first two part. */
function splitKey(text: string): string[] {
  const first = text.indexOf('+');
  const second = text.indexOf('+', first + 1);
  if (first === -1 || second === -1) return [];
  return [text.slice(0, first), text.slice(first + 1, second), text.slice(second + 1)];
}

export function hexId(keyId: number): string {
  return keyId.toString(16).padStart(8, '0');
}

/** Pure Ed25519 (RFC 8032) over these bytes. False for a key or a signature that is none. */
export function verifies(key: VerifierKey, message: Uint8Array, signature: Uint8Array): boolean {
  if (signature.length !== 64) return false;
  try {
    return verify(null, message, keyObject(key), signature);
  } catch {
    return false;
  }
}

function keyObject(key: VerifierKey): KeyObject {
  const known = keyObjects.get(key);
  if (known !== undefined) return known;
  const made = createPublicKey({
    key: Buffer.concat([SPKI_PREFIX, key.publicKey]),
    format: 'der',
    type: 'spki',
  });
  keyObjects.set(key, made);
  return made;
}
