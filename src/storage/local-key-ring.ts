import { hash } from 'node:crypto';
import type { RandomSource } from '../system/random-source.js';
import type { KeyRing } from './key-ring.js';
import { NONCE_BYTES, seal, unseal } from './sealing.js';

export const KEK_BYTES = 32;

/** The id of a KEK follows from its bytes: a damaged key is not taken for another one. */
export function kekIdOf(key: Uint8Array): string {
  return `kek_${hash('sha256', key, 'hex').slice(0, 32)}`;
}

/** A key ring of one key that is in this process's memory: AES-256-GCM, `context` as associated data. */
export class LocalKeyRing implements KeyRing {
  readonly currentId: string;

  constructor(
    private readonly key: Uint8Array,
    private readonly random: RandomSource,
  ) {
    if (key.length !== KEK_BYTES) throw new Error(`a key-encryption key has ${KEK_BYTES} bytes`);
    this.currentId = kekIdOf(key);
  }

  wrap(key: Uint8Array, context: string): Uint8Array {
    return seal(this.key, this.random.bytes(NONCE_BYTES), context, key);
  }

  unwrap(kekId: string, wrapped: Uint8Array, context: string): Uint8Array {
    if (kekId !== this.currentId) throw new Error('the key was wrapped with a key-encryption key that is not loaded');
    return unseal(this.key, context, wrapped);
  }
}
