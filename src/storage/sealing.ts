import { createCipheriv, createDecipheriv } from 'node:crypto';

/** Bytes of the random nonce in front of what is sealed (NIST SP 800-38D: 96 bits, never used twice with one key). */
export const NONCE_BYTES = 12;
export const DATA_KEY_BYTES = 32;
/** 128 bits: a payload of few possible values cannot be guessed from its commitment. */
export const SALT_BYTES = 16;

const TAG_BYTES = 16;
const ALGORITHM = 'aes-256-gcm';

/** Where an event stands. Sealed with its payload, so that a payload can be moved to no other place. */
export interface SealedPlace {
  readonly eventId: string;
  readonly tenant: string;
  readonly streamKind: string;
  readonly streamId: string;
  readonly version: number;
  readonly eventType: string;
}

export function sealingContext({ eventId, tenant, streamKind, streamId, version, eventType }: SealedPlace): string {
  return JSON.stringify([eventId, tenant, streamKind, streamId, version, eventType]);
}

/** AES-256-GCM: nonce ‖ ciphertext ‖ tag. `context` is authenticated with it and must be given again to open. */
export function seal(key: Uint8Array, nonce: Uint8Array, context: string, plain: Uint8Array): Uint8Array {
  if (nonce.length !== NONCE_BYTES) throw new Error(`a nonce has ${NONCE_BYTES} bytes`);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(context, 'utf8'));
  const ciphertext = cipher.update(plain);
  cipher.final();
  return Buffer.concat([nonce, ciphertext, cipher.getAuthTag()]);
}

/** The plain bytes. Throws a plain `Error` when the key, the context or any byte is not that of `seal`. */
export function unseal(key: Uint8Array, context: string, sealed: Uint8Array): Uint8Array {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) throw new Error('sealed bytes are too short');
  const tagAt = sealed.length - TAG_BYTES;
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(context, 'utf8'));
  decipher.setAuthTag(sealed.subarray(tagAt));
  const plain = decipher.update(sealed.subarray(NONCE_BYTES, tagAt));
  try {
    decipher.final();
  } catch {
    throw new Error('sealed bytes do not open with this key and context');
  }
  return plain;
}
