/**
 * Wraps the keys that payloads and secrets are sealed with under a key-encryption key (KEK) which is in memory from boot on: no
 * key service on the hot path. `context` is bound to the wrapped key; another context does not unwrap it.
 */
export interface KeyRing {
  /** Id of the KEK that `wrap` uses. */
  readonly currentId: string;
  /** Ids of all KEKs that `unwrap` knows, the current one first. */
  readonly ids: readonly string[];
  wrap(key: Uint8Array, context: string): Uint8Array;
  /** Throws a plain `Error` when the KEK is unknown, or the wrapped bytes or the context are not those of `wrap`. */
  unwrap(kekId: string, wrapped: Uint8Array, context: string): Uint8Array;
}
