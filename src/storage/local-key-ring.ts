import { hash } from 'node:crypto';
import type { RandomSource } from '../system/random-source.js';
import type { KeyRing } from './key-ring.js';
import { NONCE_BYTES, seal, unseal } from './sealing.js';

export const KEK_BYTES = 32;

/** The id of a KEK follows from its bytes: a damaged key is not taken for another one. */
export function kekIdOf(key: Uint8Array): string {
  return `kek_${hash('sha256', key, 'hex').slice(0, 32)}`;
}

/**
 * A key ring whose keys are in this process's memory: AES-256-GCM, `context` as associated data. The first key wraps; all of
 * them unwrap, so that what lies under an earlier key stays readable until it is rewrapped.
 */
export class LocalKeyRing implements KeyRing {
  readonly currentId: string;
  readonly #current: Uint8Array;
  readonly #keys = new Map<string, Uint8Array>();

  constructor(
    current: Uint8Array,
    private readonly random: RandomSource,
    previous: readonly Uint8Array[] = [],
  ) {
    for (const key of [current, ...previous]) {
      if (key.length !== KEK_BYTES) throw new Error(`a key-encryption key has ${KEK_BYTES} bytes`);
      this.#keys.set(kekIdOf(key), key);
    }
    this.currentId = kekIdOf(current);
    this.#current = current;
  }

  get ids(): readonly string[] {
    return [...this.#keys.keys()];
  }

  wrap(key: Uint8Array, context: string): Uint8Array {
    return seal(this.#current, this.random.bytes(NONCE_BYTES), context, key);
  }

  unwrap(kekId: string, wrapped: Uint8Array, context: string): Uint8Array {
    const kek = this.#keys.get(kekId);
    if (kek === undefined) throw new Error('the key was wrapped with a key-encryption key that is not loaded');
    return unseal(kek, context, wrapped);
  }
}
